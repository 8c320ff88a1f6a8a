import { UsageError } from './usage-error.ts';

/** Throws UsageError unless a command got either ids, or options that find runs: `option` says that these are meant. */
export function requireIdsOrFilter(ids: string[], byFilter: boolean, filter: object, option: string): void {
  const names = Object.keys(filter);
  if (ids.length > 0 && (byFilter || names.length > 0))
    throw new UsageError('Give ids of runs, or options that find them, not both.');
  if (ids.length === 0 && !byFilter)
    throw new UsageError(
      names.length > 0 && option === '--failed'
        ? 'Add --failed to retry all failed runs that these options find.'
        : `Give ids of runs, or ${option} with options that find them.`,
    );
}

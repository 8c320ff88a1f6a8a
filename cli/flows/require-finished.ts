// An unfinished flow may be pushed, but neither published nor tested.
import { describeFileProblems } from '../../api/flows/describe-file-problems.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { NamedFlow } from './flow-arguments.ts';

/** Throws INVALID_TREE with what is missing in the files of all flows, by line. */
export function requireFinished(flows: NamedFlow[]): void {
  const problems = flows.flatMap(({ path, local }) =>
    local && local.missing.length > 0
      ? [describe(path, local.file, describeFileProblems('INVALID_TREE', local.missing).message)]
      : [],
  );
  if (problems.length > 0) throw new ServiceError('INVALID_TREE', problems.join('\n'));
}

/** Makes the service's refusal of an unfinished draft name the flow, and what its file lacks by line. */
export function nameUnfinished(named: NamedFlow) {
  return (error: unknown): never => {
    if (!(error instanceof ServiceError) || error.code !== 'INVALID_TREE') throw error;
    requireFinished([named]);
    throw new ServiceError(error.code, describe(named.path, named.local?.file, error.message));
  };
}

function describe(path: string, file: string | undefined, problems: string): string {
  return `${path} is not finished${file === undefined ? '' : ` (${file})`}, and can be neither published nor tested:\n${problems}`;
}

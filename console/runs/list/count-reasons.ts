import type { components } from '../../api/schema.d.ts';

type Refused = components['schemas']['RetriedRuns']['refused'];

/** Reasons by error code. The messages themselves differ, because each names another run. */
const REASONS: Record<string, string> = {
  CONFLICT: 'cancelled, run again before, or itself a repetition of another run',
  INVALID_VERSION: 'a run of the draft: try the draft again',
  FLOW_NOT_FOUND: 'its flow or version is not there any more',
};

/** Counts the reasons for which runs were skipped, most frequent first. */
export function countReasons(refused: Refused): [reason: string, count: number][] {
  const messages = new Map(refused.map(({ code, errorMessage }) => [code, REASONS[code] ?? errorMessage]));
  return [...messages]
    .map(([code, reason]): [string, number] => [reason, refused.filter((run) => run.code === code).length])
    .sort((a, b) => b[1] - a[1]);
}

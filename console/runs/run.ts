// A run's shape and address, and the words for its version and mode.
import type { components } from '../api/schema.d.ts';

/** A run as returned by `GET …/jobs/{executionId}`. */
export type Run = components['schemas']['JobState'];

/** The path parameters of a run, in the API and in the console. */
export type RunPath = { org: string; project: string; flow: string; executionId: string };

type Refused = components['schemas']['RetriedRuns']['refused'];

/** Reasons in place of messages about the API, by error code. */
const REASONS: Record<string, string> = {
  INVALID_VERSION: 'a run of the draft: try the draft again',
  FLOW_NOT_FOUND: 'its flow was deleted, or has no version in production: choose the version of each run',
};

const OTHER_RUN = /, as [0-9a-f-]{36}/g;

/** Returns `v3`, or `draft` for version 0. */
export function versionName(version: number): string {
  return version === 0 ? 'draft' : `v${version}`;
}

/** The names of the ways to start a run. */
export const MODE_NAMES: Record<string, string> = {
  execute: 'Execute',
  jobs: 'Job',
  step: 'Step session',
  test: 'Test case',
};

/** Counts the reasons for which runs were skipped, most frequent first, whichever run a message names. */
export function countReasons(refused: Refused): [reason: string, count: number][] {
  const reasons = new Map<string, number>();
  for (const { code, errorMessage } of refused) {
    const reason = REASONS[code] ?? errorMessage.replaceAll(OTHER_RUN, '');
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return [...reasons].sort((a, b) => b[1] - a[1]);
}

/** Returns the API path of a run, followed by `rest`. */
export function runUrl({ org, project, flow, executionId }: RunPath, rest = ''): string {
  return `/api/v1/seq/${encodeURIComponent(org)}/${encodeURIComponent(project)}/${encodeURIComponent(flow)}/jobs/${encodeURIComponent(executionId)}${rest}`;
}

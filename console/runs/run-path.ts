import type { components } from '../api/schema.d.ts';

/** A run as `GET …/jobs/{executionId}` answers it. */
export type Run = components['schemas']['JobState'];

/** Where a run is in the API and in the address of its page. */
export type RunPath = { org: string; project: string; flow: string; executionId: string };

/** The path of the API for a run, with what follows. */
export function runUrl({ org, project, flow, executionId }: RunPath, rest = ''): string {
  return `/api/v1/seq/${encodeURIComponent(org)}/${encodeURIComponent(project)}/${encodeURIComponent(flow)}/jobs/${encodeURIComponent(executionId)}${rest}`;
}

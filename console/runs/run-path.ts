import type { components } from '../api/schema.d.ts';

/** A run as returned by `GET …/jobs/{executionId}`. */
export type Run = components['schemas']['JobState'];

/** The path parameters of a run, in the API and in the console. */
export type RunPath = { org: string; project: string; flow: string; executionId: string };

/** Returns the API path of a run, followed by `rest`. */
export function runUrl({ org, project, flow, executionId }: RunPath, rest = ''): string {
  return `/api/v1/seq/${encodeURIComponent(org)}/${encodeURIComponent(project)}/${encodeURIComponent(flow)}/jobs/${encodeURIComponent(executionId)}${rest}`;
}

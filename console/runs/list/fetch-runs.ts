import { api } from '../../api/client.ts';
import type { operations } from '../../api/schema.d.ts';
import type { RunFilter } from '../search.ts';

type Request = {
  query: NonNullable<operations['listOrganizationRuns']['parameters']['query']>;
  header?: { 'If-None-Match': string };
  signal: AbortSignal;
};

/** Fetches a page of the runs of a project, or of its organization with the scope `organization`. */
export function fetchRuns(
  { organizationId, projectId }: { organizationId: string; projectId: string },
  scope: RunFilter['scope'],
  { signal, ...params }: Request,
) {
  return scope
    ? api.GET('/api/v1/organizations/{org_id}/runs', {
        params: { ...params, path: { org_id: organizationId } },
        signal,
      })
    : api.GET('/api/v1/projects/{project_id}/runs', {
        params: { ...params, path: { project_id: projectId } },
        signal,
      });
}

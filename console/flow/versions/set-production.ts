import { api } from '../../api/client.ts';
import { refetch } from '../../api/query-client.ts';

/** Puts a version into production. */
export async function setProduction(projectId: string, flowId: string, version: number): Promise<void> {
  await api.PUT('/api/v1/projects/{project_id}/flows/{flow_id}/production', {
    params: { path: { project_id: projectId, flow_id: flowId } },
    body: { version },
  });
  await refetchVersions();
}

/** Fetches the versions of a flow, and whatever mentions them, again. */
export function refetchVersions(): Promise<void> {
  return refetch(
    '/api/v1/projects/{project_id}/flows/{flow_id}/versions',
    '/api/v1/projects/{project_id}/flows/{flow_id}',
    '/api/v1/projects/{project_id}/flows',
  );
}

import { api } from '../api/client.ts';

const FLOWS_PAGE = 200;

/** Finds the id of the flow with this slug; null when there is none. */
export async function findFlowId(project_id: string, slug: string): Promise<string | null> {
  let cursor: string | undefined;
  do {
    const { data } = await api.GET('/api/v1/projects/{project_id}/flows', {
      params: {
        path: { project_id },
        query: { limit: FLOWS_PAGE, search: slug, ...(cursor !== undefined && { cursor }) },
      },
    });
    const found = data?.flows.find((flow) => flow.slug === slug);
    if (found) return found.id;
    cursor = data?.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return null;
}

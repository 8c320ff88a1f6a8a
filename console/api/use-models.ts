import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from './client.ts';

export type Model = Schemas['Model'];

const PAGE = 200;
const STALE_MS = 60_000;

/** Fetches all models that the service lists, each with the kind of key that the organization's calls would use. */
export function useModels(organization_id: string) {
  return useQuery({
    // The key begins like those of the path's queries, so that `refetch` after a change of a model key covers this
    // query.
    queryKey: ['get', '/api/v1/models', 'all', organization_id],
    staleTime: STALE_MS,
    queryFn: async () => {
      const models: Model[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await api.GET('/api/v1/models', {
          params: { query: { organization_id, limit: PAGE, ...(cursor !== undefined && { cursor }) } },
        });
        models.push(...(data?.models ?? []));
        cursor = data?.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return models;
    },
  });
}

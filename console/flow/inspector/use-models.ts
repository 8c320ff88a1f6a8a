import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client.ts';

export type Model = Schemas['Model'];

const PAGE = 200;
const STALE_MS = 60_000;

/** Every model of the service's list, with whose key an organization's calls use. */
export function useModels(organization_id: string) {
  return useQuery({
    queryKey: ['all models', organization_id],
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

/** The entry that tells of a model: its own, or that of all other models of its provider. */
export function findModel(models: Model[], name: string): Model | undefined {
  const provider = name.slice(0, name.indexOf('/') + 1);
  return (
    models.find(({ model }) => model === name) ??
    (provider !== '' && name.length > provider.length
      ? models.find(({ model }) => model === `${provider}*`)
      : undefined)
  );
}

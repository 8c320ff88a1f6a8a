import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import type { RunPath } from './run-path.ts';

/** The query of what a run was started with; `isFull` asks for large values, too. */
export function runRequestQuery(path: RunPath, isFull = false) {
  return {
    queryKey: ['run-request', path, isFull],
    queryFn: async (): Promise<Schemas['RunRequest']> => {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/request', {
        params: { path, query: { full: isFull } },
      });
      return data as Schemas['RunRequest'];
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  };
}

/** Fetches what a run was started with. */
export function useRunRequest(path: RunPath, isFull: boolean) {
  return useQuery(runRequestQuery(path, isFull));
}

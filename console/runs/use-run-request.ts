import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import type { RunPath } from './run-path.ts';

/** Returns the query for a run's input; `isFull` includes large values. */
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

/** Queries a run's input. */
export function useRunRequest(path: RunPath, isFull: boolean) {
  return useQuery(runRequestQuery(path, isFull));
}

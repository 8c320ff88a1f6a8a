import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../api/client.ts';
import type { RunPath } from './run-path.ts';

export type RunRequestBody = Schemas['StepCursor'];

/** The query of what a run was started with, as the first step of a session that would repeat it. */
export function runRequestQuery(path: RunPath, step = 0) {
  return {
    queryKey: ['run-request', path, step],
    queryFn: async (): Promise<RunRequestBody> => {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/fork', {
        params: { path, query: { step: String(step) } },
      });
      return data as RunRequestBody;
    },
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** Fetches what a run was started with. */
export function useRunRequest(path: RunPath) {
  return useQuery(runRequestQuery(path));
}

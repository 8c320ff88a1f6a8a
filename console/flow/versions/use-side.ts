import { $api } from '../../api/client.ts';
import { useDraft } from '../draft/draft-context.ts';
import { type Step, toSteps } from '../draft/steps.ts';
import type { Side } from './side.ts';

/** Returns the steps of the draft or of a version. Versions never change, so they are fetched once. */
export function useSide(side: Side): { steps: Step[] | undefined; error: Error | null } {
  const { projectId, flowId, steps } = useDraft();
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/flows/{flow_id}/versions/{version}',
    {
      params: { path: { project_id: projectId, flow_id: flowId, version: side === 'draft' ? 0 : side } },
    },
    { enabled: side !== 'draft', staleTime: Number.POSITIVE_INFINITY },
  );
  if (side === 'draft') return { steps, error: null };
  return { steps: data && toSteps(data.steps), error };
}

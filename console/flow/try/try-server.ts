import { api, type Schemas } from '../../api/client.ts';

/** The flow that is tried. */
export type FlowIds = { org: string; project: string; flow: string; projectId: string; flowId: string };

/** Starts a whole run, of the draft (version 0) or a version; answers its executionId. */
export async function startJob(
  { org, project, flow, projectId, flowId }: FlowIds,
  version: number,
  body: object,
): Promise<string> {
  const header = { 'Idempotency-Key': crypto.randomUUID() };
  const { data } =
    version === 0
      ? await api.POST('/api/v1/projects/{project_id}/flows/{flow_id}/draft/runs', {
          params: { path: { project_id: projectId, flow_id: flowId }, header },
          body: body as Schemas['JobRequest'],
        })
      : await api.POST('/api/v1/seq/{org}/{project}/{flow}/v{version}/jobs', {
          params: { path: { org, project, flow, version }, header },
          body: body as Schemas['JobRequest'],
        });
  return (data as Schemas['JobAccepted']).executionId;
}

/** Reads how a run stands, with its result and receipt. */
export async function readJob(
  { org, project, flow }: FlowIds,
  executionId: string,
): Promise<Schemas['JobState']> {
  const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
    params: { path: { org, project, flow, executionId } },
  });
  return data as Schemas['JobState'];
}

/** Cancels a run; what it has cost stays charged. */
export async function cancelJob({ org, project, flow }: FlowIds, executionId: string): Promise<void> {
  await api.POST('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/cancel', {
    params: { path: { org, project, flow, executionId } },
  });
}

/** Asks for the request with which a session goes on with a stored run at a step. */
export async function readFork(
  { org, project, flow }: FlowIds,
  executionId: string,
  step: number,
): Promise<Schemas['StepCursor']> {
  const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/fork', {
    params: { path: { org, project, flow, executionId }, query: { step: String(step) } },
  });
  return data as Schemas['StepCursor'];
}

export function eventsPath({ org, project, flow }: FlowIds, executionId: string): string {
  return `/api/v1/seq/${org}/${project}/${flow}/jobs/${executionId}/events`;
}

export function stepPath({ org, project, flow, projectId, flowId }: FlowIds, version: number): string {
  return version === 0
    ? `/api/v1/projects/${projectId}/flows/${flowId}/draft/step`
    : `/api/v1/seq/${org}/${project}/${flow}/v${version}/step`;
}

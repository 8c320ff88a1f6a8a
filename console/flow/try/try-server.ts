import { api, type Schemas } from '../../api/client.ts';
import { followStream } from '../../api/follow-stream.ts';
import { sendOnce } from '../../api/send-once.ts';
import type { TryServer } from './try-requests.ts';
import { toPlan } from './try-run.ts';

/** The ids of the flow that is tried. */
type FlowIds = { org: string; project: string; flow: string; projectId: string; flowId: string };

/** The requests of the service for the runs of one flow. */
export function tryServer({ org, project, flow, projectId, flowId }: FlowIds): TryServer {
  const slugs = { org, project, flow };
  const draft = { project_id: projectId, flow_id: flowId };
  return {
    async startJob(version, request, etag) {
      const body = request as Schemas['JobRequest'];
      // A run of another draft needs another key.
      const what = JSON.stringify([flowId, version, etag, request]);
      const { data } = await sendOnce<{ data?: unknown }>(what, (key) => {
        const header = { 'Idempotency-Key': key };
        return version === 0
          ? api.POST('/api/v1/projects/{project_id}/flows/{flow_id}/draft/runs', {
              params: { path: draft, header },
              body,
            })
          : api.POST('/api/v1/seq/{org}/{project}/{flow}/v{version}/jobs', {
              params: { path: { ...slugs, version }, header },
              body,
            });
      });
      return (data as Schemas['JobAccepted']).executionId;
    },

    async readJob(executionId) {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
        params: { path: { ...slugs, executionId } },
      });
      return data as Schemas['JobState'];
    },

    async cancelJob(executionId) {
      await api.POST('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/cancel', {
        params: { path: { ...slugs, executionId } },
      });
    },

    async readFork(executionId, step) {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/fork', {
        params: { path: { ...slugs, executionId }, query: { step: String(step) } },
      });
      return data as Schemas['StepCursor'];
    },

    async readPlan(executionId) {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/flow', {
        params: { path: { ...slugs, executionId } },
      });
      return toPlan(data?.steps ?? []);
    },

    followJob(executionId, options) {
      return followStream(`/api/v1/seq/${org}/${project}/${flow}/jobs/${executionId}/events`, {}, options);
    },

    followStep(version, body, options) {
      const path =
        version === 0
          ? `/api/v1/projects/${projectId}/flows/${flowId}/draft/step`
          : `/api/v1/seq/${org}/${project}/${flow}/v${version}/step`;
      // With the same key, a repeated request attaches to the accepted call.
      const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
      return followStream(path, { method: 'POST', body: JSON.stringify(body), headers }, options);
    },
  };
}

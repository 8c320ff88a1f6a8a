import { useMemo, useSyncExternalStore } from 'react';
import { api, type Schemas } from '../../api/client.ts';
import { followStream } from '../../api/follow-stream.ts';
import { sendOnce } from '../../api/send-once.ts';
import { useMe } from '../../shell/me.ts';
import { findStep, type Step, toSteps } from '../draft/steps.ts';
import { useDraft, useFlow } from '../flow-context.ts';
import type { StepStatus } from '../graph/graph-props.ts';
import { readPins } from './pins.ts';
import { isUnderWay, statusesOf, type TryRun, toPlan } from './try-run.ts';
import { type TryServer, TryStore } from './try-store.ts';

type FlowIds = {
  org: string;
  project: string;
  flow: string;
  projectId: string;
  flowId: string;
  userId: string;
};

const KEPT_MAX = 20;
/** The stores of the flows that were opened last, by flow id. */
const stores = new Map<string, TryStore>();
/** The drafts of these flows as they are now. */
const drafts = new Map<string, Step[]>();

/** Returns the run that is tried on the pages of this flow, and its store. */
export function useTry(): { store: TryStore; run: TryRun | undefined } {
  const { flow, org, project, projectId } = useFlow();
  const { flowId, steps } = useDraft();
  const { userId } = useMe();
  drafts.set(flowId, steps);
  let store = stores.get(flowId);
  if (!store) {
    store = new TryStore(tryServer({ org, project, flow: flow.slug, projectId, flowId, userId }));
    stores.set(flowId, store);
    forgetOld();
  }
  return { store, run: useSyncExternalStore(store.subscribe, store.run) };
}

/** Forgets the oldest stores, unless their run is under way. */
function forgetOld(): void {
  for (const [flowId, store] of stores) {
    if (stores.size <= KEPT_MAX) return;
    const run = store.run();
    if (run && isUnderWay(run)) continue;
    stores.delete(flowId);
    drafts.delete(flowId);
  }
}

/** Returns the statuses of the steps in the run that is tried, for the graph; undefined when there is none. */
export function useTryStatuses(): Map<string, StepStatus> | undefined {
  const { run } = useTry();
  const { steps } = useDraft();
  return useMemo(() => run && statusesOf(run, steps), [run, steps]);
}

/** The requests of the service for the runs of one flow. */
function tryServer({ org, project, flow, projectId, flowId, userId }: FlowIds): TryServer {
  const slugs = { org, project, flow };
  const draft = { project_id: projectId, flow_id: flowId };
  /** Returns the pinned outputs of the blocks that the draft has, as a field of a request. */
  function pinsAs(field: 'pinned_outputs' | 'pinnedOutputs') {
    const pins = readPins(userId, flowId);
    const steps = drafts.get(flowId) ?? [];
    const here = Object.entries(pins).filter(([id]) => findStep(steps, id)?.step.type === 'sequential');
    return here.length > 0 ? { [field]: Object.fromEntries(here) } : {};
  }
  return {
    async startJob(version, request, etag) {
      const pins = version === 0 ? pinsAs('pinned_outputs') : {};
      const body = { ...(request as Schemas['DraftRunRequest']), ...pins };
      // A run of another draft needs another key.
      const what = JSON.stringify([flowId, version, etag, body]);
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
      return toPlan(toSteps(data?.steps ?? []));
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
      const request = version === 0 ? { ...body, ...pinsAs('pinnedOutputs') } : body;
      return followStream(path, { method: 'POST', body: JSON.stringify(request), headers }, options);
    },
  };
}

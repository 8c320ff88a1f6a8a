import { useMemo, useSyncExternalStore } from 'react';
import { useDraft } from '../draft/draft-context.ts';
import { useFlow } from '../flow-context.ts';
import type { StepStatus } from '../graph/step-status.ts';
import { statusesOf } from './statuses-of.ts';
import type { TryRun } from './try-run.ts';
import { tryServer } from './try-server.ts';
import { TryStore } from './try-store.ts';

/** The tries of the flows that were opened, by flow id. */
const stores = new Map<string, TryStore>();

/** The run that is tried on the pages of this flow, and the store that starts and steers it. */
export function useTry(): { store: TryStore; run: TryRun | undefined } {
  const { flow, org, project, projectId } = useFlow();
  const { flowId } = useDraft();
  let store = stores.get(flowId);
  if (!store) {
    store = new TryStore(tryServer({ org, project, flow: flow.slug, projectId, flowId }));
    stores.set(flowId, store);
  }
  return { store, run: useSyncExternalStore(store.subscribe, store.run) };
}

/** How the steps stand in the run that is tried, for the graph; undefined when none is. */
export function useTryStatuses(): Map<string, StepStatus> | undefined {
  const { run } = useTry();
  const { steps } = useDraft();
  return useMemo(() => run && statusesOf(run, steps), [run, steps]);
}

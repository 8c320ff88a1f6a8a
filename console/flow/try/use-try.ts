import { useMemo, useSyncExternalStore } from 'react';
import { useDraft } from '../draft/draft-context.ts';
import { useFlow } from '../flow-context.ts';
import type { StepStatus } from '../graph/step-status.ts';
import { statusesOf } from './statuses-of.ts';
import { isUnderWay, type TryRun } from './try-run.ts';
import { tryServer } from './try-server.ts';
import { TryStore } from './try-store.ts';

const KEPT_MAX = 20;
/** The stores of the flows that were opened last, by flow id. */
const stores = new Map<string, TryStore>();

/** Returns the run that is tried on the pages of this flow, and its store. */
export function useTry(): { store: TryStore; run: TryRun | undefined } {
  const { flow, org, project, projectId } = useFlow();
  const { flowId } = useDraft();
  let store = stores.get(flowId);
  if (!store) {
    store = new TryStore(tryServer({ org, project, flow: flow.slug, projectId, flowId }));
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
    if (!run || !isUnderWay(run)) stores.delete(flowId);
  }
}

/** Returns the statuses of the steps in the run that is tried, for the graph; undefined when there is none. */
export function useTryStatuses(): Map<string, StepStatus> | undefined {
  const { run } = useTry();
  const { steps } = useDraft();
  return useMemo(() => run && statusesOf(run, steps), [run, steps]);
}

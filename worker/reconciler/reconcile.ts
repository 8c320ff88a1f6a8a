// The reconciler: repairs what requests and workflows that died have left, since each row says what the engine should do.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ServiceError as EngineError } from '@temporalio/client';
import { logOutage } from '../../db/connection/database-errors.ts';
import { cancelLeft } from '../../db/upkeep/cancel-of-deleted.ts';
import { withReconcilerLease } from '../../db/upkeep/reconciler-lease.ts';
import type { RECONCILERS } from '../../flow/maintenance.ts';
import { log } from '../../platform/observability/log.ts';
import { jobCompletions, jobFailures } from '../../platform/observability/metrics/worker-metrics.ts';
import { createOnceAMinute } from '../../platform/observability/outage-log.ts';
import { askEngine, logEngineOutage } from '../../temporal/ask-engine.ts';
import type { EngineDeps } from '../../temporal/deps.ts';
import { describeEngineError, grpcCodeOf, UNANSWERED } from '../../temporal/engine-errors.ts';
import { reconcileDeliveries } from './reconcile-deliveries.ts';
import { reconcileRuns } from './reconcile-runs.ts';
import { reconcileTestRuns } from './reconcile-test-runs.ts';

/** A younger run is left alone. */
const QUIET_SECONDS = 30;
const EVERY_MS = 15_000;
/** All processes together begin one round in this time. */
const REST_SECONDS = 10;
/** A wait is up to this part longer, so that processes do not ask at one moment. */
const SPREAD = 0.25;

/** Reconciles until `signal` aborts; one process at a time does. */
export async function reconcile(deps: EngineDeps, signal: AbortSignal): Promise<void> {
  const { db, client } = deps;
  const { namespace } = client.options;
  const countOthers = createOnceAMinute();
  const reportFailure = createFailureLog();
  let id: string | undefined;
  while (!signal.aborted) {
    try {
      id ??= await findNamespaceId(client);
      const own = `the namespace ${namespace} ${id}`;
      const other = await withReconcilerLease(db, { engine: own, restSeconds: REST_SECONDS }, () =>
        reconcileOnce(deps, signal, reportFailure),
      );
      if (other !== undefined && countOthers() !== undefined)
        log.warn(
          { own, other },
          'Workers with another Temporal namespace use this database: those of this one start no missing workflow meanwhile. Correct DATABASE_URL or TEMPORAL_NAMESPACE of either.',
        );
    } catch (error) {
      if (!signal.aborted) reportFailure('reconcile', error);
    }
    await sleep(EVERY_MS * (1 + Math.random() * SPREAD), undefined, { signal }).catch(() => undefined);
  }
}

/** One round. A part that fails is logged, and holds up no other. */
async function reconcileOnce(
  deps: EngineDeps,
  signal: AbortSignal,
  reportFailure: (name: string, error: unknown) => void,
): Promise<void> {
  const parts: { [name in (typeof RECONCILERS)[number]]: () => Promise<void> } = {
    reconcileRuns: () => reconcileRuns(deps, QUIET_SECONDS, signal),
    reconcileTestRuns: () => reconcileTestRuns(deps, QUIET_SECONDS, signal),
    async reconcileDeliveries() {
      while ((await reconcileDeliveries(deps, signal)) && !signal.aborted);
    },
    cancelWorkOfDeletedProjects: () => cancelLeft(deps.db, { signal }),
  };
  await Promise.all(
    Object.entries(parts).map(async ([name, work]) => {
      try {
        await work();
        jobCompletions.add(1, { name });
      } catch (error) {
        if (signal.aborted) return;
        jobFailures.add(1, { name });
        reportFailure(name, error);
      }
    }),
  );
}

/** Creates a log of failures, with one line a minute for each name, and those of all for an outage. */
function createFailureLog(): (name: string, error: unknown) => void {
  const counts = new Map<string, () => number | undefined>();
  return (name, error) => {
    if (logOutage(error) || logEngineOutage(error)) return;
    const count = counts.get(name) ?? createOnceAMinute();
    counts.set(name, count);
    const suppressed = count();
    if (suppressed !== undefined)
      log.warn({ name, suppressed, ...inShort(error) }, 'The reconciler failed, and tries again.');
  };
}

/** Describes a refusal of the engine in short, and any other error in full. */
function inShort(error: unknown): { reason: string } | { err: unknown } {
  return error instanceof EngineError ? { reason: describeEngineError(error) } : { err: error };
}

/** Finds the id that the server made for the namespace, since another server may have one of the same name. */
async function findNamespaceId(client: Client): Promise<string> {
  const { namespace } = client.options;
  try {
    const { namespaceInfo } = await askEngine(client, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
    return namespaceInfo?.id ?? '';
  } catch (error) {
    if (UNANSWERED.includes(grpcCodeOf(error))) throw error;
    return '';
  }
}

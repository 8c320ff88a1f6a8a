import type { Client } from '@temporalio/client';
import type { Db } from '../../db/connect.ts';
import { claimDuties } from '../../db/upkeep/claim-duties.ts';
import { log } from '../../platform/observability/log.ts';
import { createOnceAMinute } from '../../platform/observability/outage-log.ts';
import { askEngine } from '../../temporal/ask-engine.ts';
import { grpcCodeOf, UNANSWERED } from '../../temporal/engine-errors.ts';

/** Workers of another engine take over once those of the one before have been silent for so long. */
const CLAIMED_SECONDS = 60;
/** The claim is renewed once in this time, however many duties ask for it. */
const KEEP_MS = 10_000;

/**
 * Creates a function that tells whether this process may start and cancel workflows of runs that others accepted: workers of one
 * engine (a namespace of one Temporal server) may. Those of another with the same database would start all runs again: they do
 * nothing meanwhile, and the log says so.
 */
export function createEngineClaim({ db, client }: { db: Db; client: Client }): () => Promise<boolean> {
  const { namespace } = client.options;
  const countSuppressed = createOnceAMinute();
  let id: string | undefined;
  let last: { isOurs: boolean; at: number } | undefined;
  return async () => {
    if (last && performance.now() - last.at < KEEP_MS) return last.isOurs;
    id ??= await findNamespaceId(client);
    const own = `the namespace ${namespace} ${id}`;
    const other = await claimDuties(db, own, CLAIMED_SECONDS);
    last = { isOurs: other === undefined, at: performance.now() };
    if (other !== undefined && countSuppressed() !== undefined)
      log.warn(
        { own, other },
        'Workers with another Temporal namespace use this database: those of this one start no missing workflow meanwhile. Correct DATABASE_URL or TEMPORAL_NAMESPACE of either.',
      );
    return last.isOurs;
  };
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

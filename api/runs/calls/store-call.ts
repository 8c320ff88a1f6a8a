// Stores a call of a run. From here on it is executed, whatever process fails.
import type { Db, Tx } from '../../../db/connect.ts';
import { ConnectionFailed, repeatLostWrite } from '../../../db/connection/database-errors.ts';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { insertKeyed } from '../../../db/runs/idempotency-keys.ts';
import { insertCalls, type NewCall, VersionDeleted } from '../../../db/runs/insert-calls.ts';
import { isAwaited } from '../../../db/runs/runs.ts';
import { InputBeingDeleted, NONE_STORED, storeInputs } from '../../../db/stored-values/stored-inputs.ts';
import { recordChange } from '../../../db/tenants/audit-entries.ts';
import { sealModelKeys } from '../../../db/tenants/model-keys.ts';
import { DRAFT_VERSION } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { listBlocks } from '../../../flow/plan.ts';
import type { RunOutcome } from '../../../flow/run.ts';
import { currentTrace } from '../../../platform/observability/tracing.ts';
import { createEncryption } from '../../../platform/secrets/encrypt.ts';
import type { RunStart } from '../../../temporal/start-run.ts';
import type { AcceptDeps } from '../../deps.ts';
import type { LoadedFlow } from '../../http/context.ts';
import { toRetryLater } from '../../http/request-errors.ts';
import type { CallRequest } from './call-request.ts';
import { flowNotFound } from './load-flow.ts';

/** A stored call of a run. `outcome`: how it ended or paused, when a repeated request finds an ended one. */
export type AcceptedCall = RunStart & {
  flowId: string;
  blockCount: number;
  /** Set for a repeated request. */
  replayed?: true;
  /** When storing began, in milliseconds of `performance.now()`; undefined for a call that was already stored. */
  storingSince?: number;
  outcome?: RunOutcome | undefined;
};

/** A call to store. Its version may differ from the requested one: a resumed run keeps its version. */
export type CallToStore = Pick<NewCall, 'callId' | 'mode' | 'input' | 'callback' | 'continues' | 'repeats'> &
  Pick<LoadedFlow, 'flowVersionId' | 'version' | 'definition'>;

/** The connection was lost while a call was stored, so it may be stored or not. `cause` has the reason. */
export class PerhapsStored extends Error {
  readonly executionId: string;

  constructor(executionId: string, cause: unknown) {
    super(`A call of run ${executionId} may have been stored or not.`, { cause });
    this.executionId = executionId;
  }
}

/**
 * Stores a call, and with the first call the `session`; also the snapshot of a new draft, and the audit entry where
 * starts are recorded. Returns undefined when another request has taken the Idempotency-Key or stored the same resume
 * meanwhile. Throws PerhapsStored when the result is unknown, and FLOW_NOT_FOUND when the flow and its version were
 * deleted.
 */
export async function storeCall(
  deps: AcceptDeps,
  request: CallRequest<unknown>,
  call: CallToStore,
  session?: Pick<NewCall, 'callId' | 'input'>,
): Promise<AcceptedCall | undefined> {
  const { flow, environment, keyId, userId, requestId, modelKeys, idempotencyKey } = request;
  const { organizationId, projectId, flowId } = flow;
  const { callId, mode, input, callback, continues, repeats, version, definition } = call;
  const executionId = continues?.executionId ?? callId;
  const isSingle = !repeats && (!continues || session !== undefined);
  const author = continues && !session ? undefined : request.author;
  const trace = currentTrace();
  const sealed = modelKeys && sealModelKeys(createEncryption(deps.config.secretsKeys), callId, modelKeys);
  const storingSince = performance.now();
  let flowVersionId = call.flowVersionId ?? '';
  let isSnapshot = call.flowVersionId === undefined;
  let objects = NONE_STORED;
  let tries = 0;

  const insert = async (db: Db | Tx): Promise<boolean> => {
    if (isSnapshot) flowVersionId = await snapshotDraft(db, flowId, definition);
    const caller = { environment, keyId, userId, requestId };
    const both = { organizationId, projectId, flowId, flowVersionId, mode, ...caller };
    const underWayMax = flow.runsUnderWayMax ?? deps.config.runsUnderWayMax;
    const own = { callId, input, callback, continues, repeats, modelKeys: sealed, underWayMax };
    const rows: NewCall[] = [{ ...both, ...own }];
    if (session) rows.unshift({ ...both, ...session, status: 'in_progress' });
    const isNew = await insertCalls(db, rows, objects);
    if (isNew && author) {
      const change = { organizationId, action: 'run.start', resourceId: executionId } as const;
      await recordChange(db as Tx, author, { ...change, details: { flow_id: flowId, version } });
    }
    // The ids of repetitions and session calls are their own: an existing row is this call.
    return isNew || isSingle || repeats !== undefined || mode === 'step';
  };
  // Repeated after a lost response: a run with a key then finds the key taken, and a resume or repetition finds itself stored.
  const store = () =>
    repeatLostWrite(() => {
      tries += 1;
      if (idempotencyKey) return insertKeyed(deps.db, callId, idempotencyKey, insert);
      const inOneStatement = isSingle && !isSnapshot && !author && objects.size === 0;
      return inOneStatement ? insert(deps.db) : deps.db.transaction().execute(insert);
    });

  try {
    const ofSession = continues?.sessionInput && { callId: executionId, input: continues.sessionInput };
    const inputs = [{ callId, input }, session, ofSession].filter((one) => one !== undefined);
    objects = await repeatLostWrite(() => storeInputs(deps.db, organizationId, inputs));
    const isStored = await store().catch((error: unknown) => {
      if (error instanceof InputBeingDeleted) objects = NONE_STORED;
      else if (!(error instanceof VersionDeleted)) throw error;
      else if (version !== DRAFT_VERSION) throw flowNotFound(version);
      else isSnapshot = true;
      return store();
    });
    if (!isStored) return undefined;
  } catch (error) {
    if (tries === 0) throw error;
    if (error instanceof ServiceError) throw toRetryLater(error);
    // The last try stored nothing, but an earlier one with a lost response may have.
    const isRefused = error instanceof ConnectionFailed && !error.mayBeCarriedOut;
    throw isRefused && tries === 1 ? error : new PerhapsStored(executionId, error);
  }

  // A worker in this process need not load the context from the database.
  deps.inProcessRuns?.contexts.set(callId, {
    organizationId,
    flowVersionId,
    requestId,
    input,
    completed: new Set(),
    lostWorkers: new Map(),
    cancelled: false,
    mode,
    startedAt: new Date(),
    awaited: isAwaited(mode),
  });
  return {
    ...request.slugs,
    executionId,
    callId,
    from: continues?.from ?? (repeats?.from || null),
    to: continues?.to ?? null,
    version,
    mode,
    environment,
    flowVersionId,
    definition,
    flowId,
    blockCount: listBlocks(definition).length,
    callback: callback !== undefined,
    trace,
    storingSince,
  };
}

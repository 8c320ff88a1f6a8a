// Stores a call of a run. From here on it is executed, whatever process fails.
import type { Db, Tx } from '../../../db/connect.ts';
import { ConnectionFailed, repeatLostWrite } from '../../../db/connection/database-errors.ts';
import { snapshotDraft } from '../../../db/flows/draft-snapshots.ts';
import { insertKeyed } from '../../../db/runs/idempotency-keys.ts';
import { insertCalls, type NewCall, VersionDeleted } from '../../../db/runs/insert-calls.ts';
import { isAwaited } from '../../../db/runs/runs.ts';
import { InputBeingDeleted, NONE_STORED, storeInputs } from '../../../db/stored-values/stored-inputs.ts';
import { type Author, recordChange } from '../../../db/tenants/audit-entries.ts';
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

type StoredCall = CallToStore & { flowVersionId: string };

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
  const { flow, idempotencyKey } = request;
  const { callId, mode, continues, repeats } = call;
  const executionId = continues?.executionId ?? callId;
  const author = continues && !session ? undefined : request.author;
  const storingSince = performance.now();
  let inputs = await repeatLostWrite(() =>
    storeInputs(deps.db, flow.organizationId, listInputs(call, session)),
  );
  let known = call.flowVersionId;
  let flowVersionId = known ?? '';
  let tries = 0;
  const insert = async (db: Db | Tx) => {
    flowVersionId = known ?? (await snapshotDraft(db, flow.flowId, call.definition));
    const isNew = await insertCalls(db, toRows(deps, request, { ...call, flowVersionId }, session), inputs);
    if (isNew && author) await recordStart(db as Tx, author, flow, executionId, call.version);
    return isNew;
  };
  // After a lost response this is repeated: a run with a key finds the key taken, and a resume or repetition finds
  // itself stored.
  const store = () =>
    repeatLostWrite(() => {
      tries += 1;
      if (idempotencyKey) return insertKeyed(deps.db, callId, idempotencyKey, insert);
      const isSingle = !repeats && (!continues || session !== undefined);
      const inOneStatement = isSingle && known !== undefined && !author && inputs.size === 0;
      const stored = inOneStatement ? insert(deps.db) : deps.db.transaction().execute(insert);
      // The ids of repetitions and session calls are their own: an existing row is this call.
      return stored.then((isNew) => isNew || isSingle || repeats !== undefined || mode === 'step');
    });
  const accepted = await store()
    .catch((error: unknown) => {
      if (error instanceof InputBeingDeleted) inputs = NONE_STORED;
      else if (!(error instanceof VersionDeleted)) throw error;
      else if (call.version === DRAFT_VERSION) known = undefined;
      else throw flowNotFound(call.version);
      return store();
    })
    .catch((error: unknown) => {
      throw toStoringError(error, executionId, tries);
    });
  if (!accepted) return undefined;
  const stored = { ...call, flowVersionId };
  deps.inProcessRuns?.contexts.set(callId, toContext(request, stored));
  return { ...toAccepted(request, stored), storingSince };
}

/** Makes the rows of a call and, for the first call of a session, of the session. */
function toRows(
  deps: AcceptDeps,
  { flow, environment, keyId, requestId, modelKeys }: CallRequest<unknown>,
  { callId, mode, input, callback, continues, repeats, flowVersionId }: StoredCall,
  session: Pick<NewCall, 'callId' | 'input'> | undefined,
): NewCall[] {
  const { organizationId, projectId, flowId } = flow;
  const row = { organizationId, projectId, flowId, flowVersionId, mode, environment, keyId, requestId };
  const encryption = modelKeys && createEncryption(deps.config.secretsKeys);
  const underWayMax = flow.runsUnderWayMax ?? deps.config.runsUnderWayMax;
  const asked = { callId, input, callback, continues, repeats, underWayMax };
  const sealed = encryption && { modelKeys: sealModelKeys(encryption, callId, modelKeys) };
  const rows: NewCall[] = [{ ...row, ...asked, ...sealed }];
  if (session) rows.unshift({ ...row, ...session, status: 'in_progress' });
  return rows;
}

async function recordStart(
  tx: Tx,
  author: Author,
  { organizationId, flowId }: LoadedFlow,
  executionId: string,
  version: number,
): Promise<void> {
  const change = { organizationId, action: 'run.start', resourceId: executionId } as const;
  await recordChange(tx, author, { ...change, details: { flow_id: flowId, version } });
}

/** Makes the context that a worker in this process need not load from the database. */
function toContext({ flow, requestId }: CallRequest<unknown>, { flowVersionId, mode, input }: StoredCall) {
  return {
    organizationId: flow.organizationId,
    flowVersionId,
    requestId,
    input,
    completed: new Set<string>(),
    lostWorkers: new Map<string, number>(),
    cancelled: false,
    mode,
    startedAt: new Date(),
    awaited: isAwaited(mode),
  };
}

function toAccepted({ slugs, flow, environment }: CallRequest<unknown>, call: StoredCall): AcceptedCall {
  const { callId, mode, continues, repeats, version, definition, flowVersionId } = call;
  return {
    executionId: continues?.executionId ?? callId,
    callId,
    from: continues?.from ?? (repeats?.from || null),
    to: continues?.to ?? null,
    ...slugs,
    version,
    mode,
    environment,
    flowVersionId,
    definition,
    flowId: flow.flowId,
    blockCount: listBlocks(definition).length,
    callback: call.callback !== undefined,
    trace: currentTrace(),
  };
}

/** Makes the error for a call that was not stored after several tries. */
function toStoringError(error: unknown, executionId: string, tries: number): unknown {
  // This try did nothing, but an earlier one with a lost response may have.
  const isRefused = error instanceof ConnectionFailed && !error.mayBeCarriedOut;
  if (isRefused && tries === 1) return error;
  // A rejected call is not stored.
  return error instanceof ServiceError ? toRetryLater(error) : new PerhapsStored(executionId, error);
}

/** Lists all inputs that storing a call writes. */
function listInputs(
  { callId, input, continues }: CallToStore,
  session: Pick<NewCall, 'callId' | 'input'> | undefined,
): Pick<NewCall, 'callId' | 'input'>[] {
  const { executionId = '', sessionInput } = continues ?? {};
  const ofSession = sessionInput && { callId: executionId, input: sessionInput };
  return [{ callId, input }, session, ofSession].filter((one) => one !== undefined);
}

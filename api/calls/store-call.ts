// Stores a call of a run: from here on it is carried out, whatever process fails.
import type { Db, Tx } from '../../db/connect.ts';
import { ConnectionFailed } from '../../db/connection/connection-failed.ts';
import { ConnectionShareUsed } from '../../db/connection/connection-turns.ts';
import { repeatLostWrite } from '../../db/connection/repeat-lost-write.ts';
import { snapshotDraft } from '../../db/flows/draft-snapshots.ts';
import { insertKeyed } from '../../db/runs/idempotency-keys.ts';
import { insertCalls, type NewCall, SnapshotDeleted } from '../../db/runs/insert-calls.ts';
import { isAwaited } from '../../db/runs/runs.ts';
import { InputBeingDeleted, NONE_STORED, storeInputs } from '../../db/stored-values/store-inputs.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import type { RunStart } from '../../engine/start-run.ts';
import { ServiceError } from '../../flow/errors.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { RunOutcome } from '../../flow/run.ts';
import { currentTrace } from '../../observability/tracing.ts';
import type { AcceptDeps } from '../deps.ts';
import type { LoadedFlow } from '../http/context.ts';
import { toRetryLater } from '../http/retry-later.ts';
import type { CallRequest } from './call-request.ts';

/** A stored call of a run. `outcome` says how it ended or paused, where a repeated request finds one that has. */
export type AcceptedCall = RunStart & {
  flowId: string;
  blockCount: number;
  /** Set when the request was answered before: it is a repetition. */
  replayed?: true;
  /** When storing it began, by the clock of `performance`; not of one that was found stored. */
  storingSince?: number;
  outcome?: RunOutcome | undefined;
};

/** A call to store. Its version may differ from the one the request asks for: a resumed run keeps its version. */
export type CallToStore = Pick<NewCall, 'callId' | 'mode' | 'input' | 'callback' | 'continues' | 'repeats'> &
  Pick<LoadedFlow, 'flowVersionId' | 'version' | 'definition'>;

/** The connection was lost while a call was stored: it may be there or not. `cause` says how. */
export class PerhapsStored extends Error {
  readonly executionId: string;

  constructor(executionId: string, cause: unknown) {
    super(`A call of run ${executionId} may have been stored or not.`, { cause });
    this.executionId = executionId;
  }
}

/**
 * Stores a call, and on the first call of a session the `session` too; with it the snapshot of a draft that has none, and the
 * entry in the audit log where starts are recorded. Returns undefined when another request has taken the Idempotency-Key, or
 * stored the same resume, in the meantime. Throws PerhapsStored when nothing says whether the call is stored.
 */
export async function storeCall(
  deps: AcceptDeps,
  request: CallRequest<unknown>,
  call: CallToStore,
  session?: Pick<NewCall, 'callId' | 'input'>,
): Promise<AcceptedCall | undefined> {
  let mayBeStored = false;
  try {
    await holdModelKeys(deps, request, call.callId);
    const accepted = await storeHeld(deps, request, call, session);
    mayBeStored = accepted !== undefined;
    return accepted;
  } catch (error) {
    mayBeStored = error instanceof PerhapsStored;
    throw error;
  } finally {
    // Another request may have stored the same resume, whose id is derived from what it asks for.
    const isOurs = call.continues?.after === undefined;
    if (request.modelKeys && isOurs && !mayBeStored) deps.requestModelKeys.drop(call.callId);
  }
}

/** Stores a call as `storeCall` does, whose model keys are held. */
async function storeHeld(
  deps: AcceptDeps,
  request: CallRequest<unknown>,
  call: CallToStore,
  session?: Pick<NewCall, 'callId' | 'input'>,
): Promise<AcceptedCall | undefined> {
  const { slugs, flow, environment, keyId, requestId, idempotencyKey, modelKeys } = request;
  const { callId, mode, input, callback, continues, repeats } = call;
  const executionId = continues?.executionId ?? callId;
  const { organizationId, projectId, flowId } = flow;
  const { version, definition } = call;
  let known = call.flowVersionId;
  let flowVersionId = known ?? '';
  const author = continues && !session ? undefined : request.author;
  const storingSince = performance.now();
  let inputs = await repeatLostWrite(() =>
    storeInputs(deps.db, organizationId, listInputs(call, session), request.endLargeWork),
  );
  let tries = 0;
  // When this is repeated after a lost answer, a run with a key finds the key taken, and a resume or repetition itself stored.
  const store = () =>
    repeatLostWrite(() => {
      tries += 1;
      if (idempotencyKey) return insertKeyed(deps.db, callId, idempotencyKey, insert);
      const isSingle = !repeats && (!continues || session !== undefined);
      const inOneStatement = isSingle && known !== undefined && !author && inputs.size === 0;
      const stored = inOneStatement ? insert(deps.db) : deps.db.transaction().execute(insert);
      // A repetition and a call of a session have ids of their own: the one that is stored already is this one.
      return stored.then((isNew) => isNew || isSingle || repeats !== undefined || mode === 'step');
    });
  const accepted = await store()
    .catch((error: unknown) => {
      if (error instanceof InputBeingDeleted) inputs = NONE_STORED;
      else if (error instanceof SnapshotDeleted) known = undefined;
      else throw error;
      return store();
    })
    .catch((error: unknown) => {
      throw toStoringError(error, executionId, tries);
    });
  if (!accepted) return undefined;
  const fresh = { completed: new Set<string>(), cancelled: false, mode, startedAt: new Date() };
  const context = {
    organizationId,
    flowVersionId,
    requestId,
    input,
    ...fresh,
    awaited: isAwaited(mode),
  };
  deps.inProcessRuns?.contexts.set(callId, context);
  return {
    executionId,
    callId,
    from: continues?.from ?? (repeats?.from || null),
    to: continues?.to ?? null,
    ...slugs,
    version,
    mode,
    environment,
    flowVersionId,
    definition,
    flowId,
    blockCount: listBlocks(definition).length,
    callback: callback !== undefined,
    trace: currentTrace(),
    storingSince,
  };

  async function insert(db: Db | Tx): Promise<boolean> {
    flowVersionId = known ?? (await snapshotDraft(db, flowId, definition));
    const row = { organizationId, projectId, flowId, flowVersionId, mode, environment, keyId, requestId };
    const modelKeyProviders = modelKeys && Object.keys(modelKeys);
    const underWayMax = flow.runsUnderWayMax ?? deps.config.runsUnderWayMax;
    const asked = { callId, input, callback, continues, repeats, modelKeyProviders, underWayMax };
    const rows: NewCall[] = [{ ...row, ...asked }];
    if (session) rows.unshift({ ...row, ...session, status: 'in_progress' });
    const isNew = await insertCalls(db, rows, inputs);
    if (isNew && author) {
      const change = { organizationId, action: 'run.start', resourceId: executionId };
      await recordChange(db as Tx, author, { ...change, details: { flow_id: flowId, version } });
    }
    return isNew;
  }
}

/** Makes the error of storing a call, the last of so many tries. */
function toStoringError(error: unknown, executionId: string, tries: number): unknown {
  // Nothing was carried out, but perhaps by an earlier try whose answer was lost.
  const isRefused =
    error instanceof ConnectionShareUsed || (error instanceof ConnectionFailed && !error.mayBeCarriedOut);
  if (isRefused && tries === 1) return error;
  // A call that was refused is not stored.
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

/**
 * Holds the model keys of the request. Called before the call is stored, so that the worker finds them. Throws RATE_LIMITED and
 * SERVICE_BUSY.
 */
export async function holdModelKeys(
  { requestModelKeys }: Pick<AcceptDeps, 'requestModelKeys'>,
  { modelKeys, flow }: Pick<CallRequest<unknown>, 'modelKeys' | 'flow'>,
  callId: string,
): Promise<void> {
  if (!modelKeys) return;
  const hold = () => requestModelKeys.hold(flow.organizationId, callId, modelKeys);
  await repeatLostWrite(hold).catch((error: unknown) => {
    throw toRetryLater(error);
  });
}

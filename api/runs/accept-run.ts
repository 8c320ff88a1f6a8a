import { randomUUID } from 'node:crypto';
import { repeatLostWrite } from '../../db/connection/repeat-lost-write.ts';
import { insertKeyedCalls } from '../../db/runs/idempotency-keys.ts';
import { insertCalls, type NewCall } from '../../db/runs/insert-calls.ts';
import type { RunMode, StoredRunInput } from '../../db/schema.ts';
import type { RunStart } from '../../engine/start-run.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { BlockOverrides } from '../../flow/overrides.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { RunOutcome } from '../../flow/run.ts';
import type { ApiDeps } from '../deps.ts';
import type { ApiContext, LoadedFlow } from '../http/context.ts';
import { readAttachments } from './attachments.ts';
import { readCallback } from './read-callback.ts';
import type { JobRequest, RunRequest } from './requests.ts';
import { requireImageSupport } from './require-image-support.ts';
import { requireTools } from './require-tools.ts';
import { requireValidOverrides } from './require-valid-overrides.ts';

/** A stored call of a run. `outcome` says how it ended or paused, where a repeated request finds one that has. */
export type AcceptedRun = RunStart & { flowId: string; blockCount: number; outcome?: RunOutcome | undefined };

/**
 * Checks everything that a run can be refused for, then stores it: from here on it is not lost. Returns undefined when
 * another request has taken its Idempotency-Key in the meantime.
 */
export async function acceptRun(
  deps: ApiDeps,
  ctx: ApiContext,
  mode: RunMode,
): Promise<AcceptedRun | undefined> {
  const { flow } = ctx.state;
  const {
    message,
    parameters = {},
    block_overrides = {},
    maxCredits,
    ...asked
  } = ctx.state.body as RunRequest;
  if (message === undefined) throw missing('message');
  requireParameterNames(parameters);
  const overrides = block_overrides as BlockOverrides;
  const validator = deps.validator.of(flow.organizationId);
  await requireValidOverrides(validator, flow.definition, 'block_overrides', overrides);
  const images = await acceptAttachments(deps, ctx, overrides, asked.attachments);
  const tools = requireTools(deps, flow.definition, overrides, asked);
  const callback = mode === 'jobs' ? await readCallback(deps, ctx.state.body as JobRequest) : undefined;
  requireCredits(flow);
  const input = {
    message,
    parameters,
    block_overrides,
    ...(maxCredits !== undefined && { max_credits: maxCredits }),
    ...images,
    ...tools,
  } as StoredRunInput;
  return storeRun(deps, ctx, { callId: randomUUID(), mode, input, callback, ...flow });
}

/** A call to store. Its version may differ from the one the request asks for: a resumed run keeps its version. */
export type RunToStore = Pick<NewCall, 'callId' | 'mode' | 'input' | 'callback' | 'continues'> & {
  flowVersionId: string;
  version: number;
  definition: FlowDefinition;
};

/**
 * Stores a call, and on the first call of a session the `session` too. Returns undefined as `acceptRun` does, and when
 * the same resume has been stored in the meantime.
 */
export async function storeRun(
  deps: ApiDeps,
  ctx: ApiContext,
  run: RunToStore,
  session?: Pick<NewCall, 'callId' | 'input'>,
): Promise<AcceptedRun | undefined> {
  const { flow, principal, idempotencyKey, modelKeys } = ctx.state;
  const { environment } = principal;
  const { callId, mode, input, callback, continues } = run;
  const executionId = continues?.executionId ?? callId;
  ctx.state.accepted = { executionId };
  const { organizationId, projectId, flowId } = flow;
  const { flowVersionId, version, definition } = run;
  const row = { organizationId, projectId, flowId, flowVersionId, mode, environment };
  const modelKeyProviders = modelKeys && Object.keys(modelKeys);
  const rows: NewCall[] = [{ ...row, callId, input, callback, continues, modelKeyProviders }];
  if (session) rows.unshift({ ...row, ...session, status: 'in_progress' });
  await holdModelKeys(deps, ctx, callId);
  // When this is repeated after a lost answer, a run with a key finds the key taken and a resume finds itself stored.
  const accepted = await repeatLostWrite(() => {
    if (idempotencyKey) return insertKeyedCalls(deps.db, rows, idempotencyKey);
    if (!continues || session) return insertCalls(deps.db, rows).then(() => true);
    // A call of a session has an id of its own: the one that is stored already is this one.
    const stored = deps.db.transaction().execute((tx) => insertCalls(tx, rows));
    return stored.then((isNew) => isNew || mode === 'step');
  }).catch((error: unknown) => {
    // A call that was refused is not stored.
    if (error instanceof ServiceError) ctx.state.accepted = undefined;
    throw error;
  });
  if (!accepted) {
    ctx.state.accepted = undefined;
    return undefined;
  }
  const context = { organizationId, flowVersionId, input, completed: new Set<string>(), cancelled: false };
  deps.inProcessRuns?.contexts.set(callId, context);
  const { org = '', project = '', flow: flowSlug = '' } = ctx.params;
  return {
    executionId,
    callId,
    from: continues?.from ?? null,
    to: continues?.to ?? null,
    organization: org,
    project,
    flow: flowSlug,
    version,
    mode,
    environment,
    flowVersionId,
    definition,
    flowId,
    blockCount: listBlocks(definition).length,
    callback: callback !== undefined,
  };
}

/** Holds the model keys of the request. Called before the call is stored, so that the worker finds them. */
export async function holdModelKeys(deps: ApiDeps, ctx: ApiContext, callId: string): Promise<void> {
  const { modelKeys } = ctx.state;
  if (modelKeys) await repeatLostWrite(() => deps.requestModelKeys.hold(callId, modelKeys));
}

/** Returns the attachments as they are stored; {} when there are none. Throws the codes of attachments. */
export async function acceptAttachments(
  deps: ApiDeps,
  ctx: ApiContext,
  overrides: BlockOverrides,
  sent: unknown[] = [],
): Promise<Pick<StoredRunInput, 'attachments'>> {
  const attachments = await readAttachments(sent, deps.resolvePublic);
  const { definition } = ctx.state.flow;
  requireImageSupport(deps.registry, { definition, overrides, attachments });
  return attachments.length > 0 ? { attachments } : {};
}

/** Throws INSUFFICIENT_CREDITS. */
export function requireCredits(flow: Pick<LoadedFlow, 'balanceMicrocredits'>): void {
  if (flow.balanceMicrocredits <= 0)
    throw new ServiceError('INSUFFICIENT_CREDITS', 'The organization has no credits left.');
}

/** Throws PARAMETER_NAME_RESERVED. */
export function requireParameterNames(parameters: object): void {
  if (Object.hasOwn(parameters, 'attachments'))
    throw new ServiceError(
      'PARAMETER_NAME_RESERVED',
      'parameters.attachments is reserved: give this parameter another name.',
    );
}

/** The 422 for a field that this request needs. */
export function missing(field: string): ServiceError {
  const message = 'is required';
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { errors: [{ field, message }] });
}

import { randomUUID } from 'node:crypto';
import { createEncryption } from '../db/encrypt.ts';
import { insertKeyedRun } from '../db/idempotency-keys.ts';
import { sealModelKeys } from '../db/model-keys.ts';
import { insertRun } from '../db/runs.ts';
import type { RunMode, StoredRunInput } from '../db/schema.ts';
import { throughOutage } from '../db/through-outage.ts';
import type { JsonSchema } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import { type BlockOverrides, checkOverrides } from '../flow/overrides.ts';
import type { RunOutcome } from '../flow/run.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import { PROBLEMS_MAX } from './json-body.ts';
import { readCallback } from './read-callback.ts';
import type { JobRequest, RunRequest } from './requests.ts';
import type { RunStart } from './start-run.ts';

/** A stored run. `outcome`: one that was accepted before has ended like this. */
export type AcceptedRun = RunStart & { flowId: string; blockCount: number; outcome?: RunOutcome | undefined };

/**
 * Checks everything a run can be refused for, then stores it: from here on it is not lost. Undefined when another
 * request has taken its Idempotency-Key meanwhile.
 */
export async function acceptRun(
  deps: ApiDeps,
  ctx: ApiContext,
  mode: RunMode,
): Promise<AcceptedRun | undefined> {
  const { flow, principal, idempotencyKey, modelKeys } = ctx.state;
  const { message, parameters, block_overrides } = ctx.state.body as RunRequest;
  if (Object.hasOwn(parameters, 'attachments'))
    throw new ServiceError(
      'PARAMETER_NAME_RESERVED',
      'parameters.attachments is reserved: give this parameter another name.',
    );
  await requireValidOverrides(deps, ctx, block_overrides as BlockOverrides);
  const callback = mode === 'jobs' ? await readCallback(deps, ctx.state.body as JobRequest) : undefined;
  if (flow.balanceMicrocredits <= 0)
    throw new ServiceError('INSUFFICIENT_CREDITS', 'The organization has no credits left.');

  // What JSON text held is JSON.
  const input = { message, parameters, block_overrides } as StoredRunInput;
  const executionId = randomUUID();
  ctx.state.accepted = { executionId };
  const run = {
    executionId,
    organizationId: flow.organizationId,
    projectId: flow.projectId,
    flowId: flow.flowId,
    flowVersionId: flow.flowVersionId,
    mode,
    environment: principal.environment,
    input,
    callback,
    modelKeys: modelKeys && sealModelKeys(createEncryption(deps.config.secretsKeys), executionId, modelKeys),
  };
  // Repeated after a lost answer, a keyed run finds its own key taken, and is then found under it.
  const accepted = await throughOutage(() =>
    idempotencyKey ? insertKeyedRun(deps.db, run, idempotencyKey) : insertRun(deps.db, run).then(() => true),
  );
  if (!accepted) {
    ctx.state.accepted = undefined;
    return undefined;
  }
  const { organizationId, flowVersionId } = flow;
  const context = { organizationId, flowVersionId, input, completed: new Set<string>(), cancelled: false };
  deps.localRuns?.contexts.set(executionId, context);
  const { org = '', project = '', flow: flowSlug = '' } = ctx.params;
  return {
    executionId,
    organization: org,
    project,
    flow: flowSlug,
    version: flow.version,
    mode,
    environment: principal.environment,
    definition: flow.definition,
    flowId: flow.flowId,
    blockCount: flow.blockCount,
    callback: callback !== undefined,
  };
}

async function requireValidOverrides(
  deps: ApiDeps,
  ctx: ApiContext,
  overrides: BlockOverrides,
): Promise<void> {
  const problems = checkOverrides(ctx.state.flow.definition, overrides);
  for (const [stepId, override] of Object.entries(overrides)) {
    for (const name of ['inputSchema', 'outputSchema'] as const) {
      const problem = override[name] === undefined ? undefined : await schemaProblem(deps, override[name]);
      if (problem) problems.push({ field: `${stepId}.${name}`, message: problem });
    }
  }
  if (problems.length === 0) return;
  const errors = problems
    .slice(0, PROBLEMS_MAX)
    .map(({ field, message }) => ({ field: `block_overrides.${field}`, message }));
  throw new ServiceError(
    'VALIDATION_ERROR',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { errors },
  );
}

async function schemaProblem({ validator }: ApiDeps, schema: JsonSchema): Promise<string | undefined> {
  try {
    await validator.check(schema);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

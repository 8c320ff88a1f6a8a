import { randomUUID } from 'node:crypto';
import { insertRun } from '../db/runs.ts';
import type { RunMode } from '../db/schema.ts';
import type { JsonSchema } from '../flow/definition.ts';
import { ServiceError } from '../flow/errors.ts';
import { type BlockOverrides, checkOverrides } from '../flow/overrides.ts';
import type { ApiContext, ApiDeps } from './context.ts';
import type { RunRequest } from './requests.ts';
import type { RunStart } from './start-run.ts';

/** Checks everything a run can be refused for, then stores it: from here on it is not lost. */
export async function acceptRun(deps: ApiDeps, ctx: ApiContext, mode: RunMode): Promise<RunStart> {
  const { flow, key } = ctx.state;
  const { message, parameters, block_overrides } = ctx.state.body as RunRequest;
  if (Object.hasOwn(parameters, 'attachments'))
    throw new ServiceError(
      'PARAMETER_NAME_RESERVED',
      'parameters.attachments is reserved: send attachments as a field of the request.',
    );
  await requireValidOverrides(deps, ctx, block_overrides as BlockOverrides);
  if (flow.balanceMicrocredits <= 0)
    throw new ServiceError('INSUFFICIENT_CREDITS', 'The organization has no credits left.');

  const input = { message, parameters, block_overrides: block_overrides as BlockOverrides };
  const executionId = randomUUID();
  await insertRun(deps.db, {
    executionId,
    organizationId: flow.organizationId,
    projectId: flow.projectId,
    flowId: flow.flowId,
    flowVersionId: flow.flowVersionId,
    mode,
    environment: key.environment,
    input,
  });
  const { organizationId, flowVersionId } = flow;
  const context = { organizationId, flowVersionId, input, completed: new Set<string>() };
  deps.localRuns?.contexts.set(executionId, context);
  const { org = '', project = '', flow: flowSlug = '' } = ctx.params;
  return {
    executionId,
    organization: org,
    project,
    flow: flowSlug,
    version: flow.version,
    mode,
    environment: key.environment,
    definition: flow.definition,
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
  const errors = problems.map(({ field, message }) => ({ field: `block_overrides.${field}`, message }));
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

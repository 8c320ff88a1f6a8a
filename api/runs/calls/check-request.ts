// Checks of requests that start or continue runs: overrides, tools, attachments, credits (docs/run-and-wait.md).

import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import type { RunLimits } from '../../../db/tenants/limits.ts';
import type { FlowDefinition, JsonSchema } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { isObject } from '../../../flow/json.ts';
import { FLOW_STEPS_MAX, OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import {
  applyOverride,
  type BlockOverrides,
  findOverrideProblems,
  overrideOf,
} from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import type { Attachment } from '../../../flow/run.ts';
import {
  listToolSteps,
  requireToolSteps,
  type ToolChoice,
  type ToolDefinition,
} from '../../../flow/tool-calls.ts';
import type { OrganizationValidator } from '../../../platform/json-schema/validator.ts';
import { findSettingProblems } from '../../../platform/models/find-setting-problems.ts';
import { type LiveRegistry, RETRY_SECONDS } from '../../../platform/models/live-registry.ts';
import { takesObjects } from '../../../platform/models/tool-schema.ts';
import type { AcceptDeps } from '../../deps.ts';
import { PROBLEMS_MAX } from '../../http/json-body.ts';
import { invalidField, RetryLater } from '../../http/request-errors.ts';
import { requireChoice } from '../run-shapes/tool-requests.ts';

/**
 * Throws VALIDATION_ERROR for more overrides than a flow can have blocks. Runs before the shape of each is checked.
 */
export function requireFewOverrides(body: unknown): void {
  if (!isObject(body)) return;
  for (const field of ['block_overrides', 'blockOverrides']) {
    const overrides = body[field];
    if (!isObject(overrides) || Object.keys(overrides).length <= FLOW_STEPS_MAX) continue;
    throw invalidField(field, `must have at most ${FLOW_STEPS_MAX} entries`);
  }
}

/** Finds the settings that a model does not take because of an override. */
function findRefusedSettings(
  registry: Pick<LiveRegistry, 'find' | 'lists'>,
  definition: FlowDefinition,
  overrides: BlockOverrides,
): { field: string; message: string }[] {
  return listBlocks(definition).flatMap((block) => {
    const override = overrideOf(overrides, block.step_id);
    if (!override) return [];
    const { model, processor_config: config = {} } = override;
    return findSettingProblems(registry, applyOverride(block, override)).flatMap(({ setting, message }) => {
      if (config[setting] !== undefined)
        return [{ field: `${block.step_id}.processor_config.${setting}`, message }];
      return model === undefined ? [] : [{ field: `${block.step_id}.model`, message }];
    });
  });
}

/** Throws VALIDATION_ERROR unless the overrides fit the flow and the models. `field`: their name in the request. */
export async function requireValidOverrides(
  validator: OrganizationValidator,
  registry: Pick<LiveRegistry, 'find' | 'lists'>,
  definition: FlowDefinition,
  field: string,
  overrides: BlockOverrides,
): Promise<void> {
  const problems = [
    ...findOverrideProblems(definition, overrides),
    ...findRefusedSettings(registry, definition, overrides),
  ];
  const schemas = Object.entries(overrides).flatMap(([stepId, override]) =>
    (['inputSchema', 'outputSchema'] as const).flatMap((name) => {
      const schema = override[name];
      return schema === undefined ? [] : [{ field: `${stepId}.${name}`, schema }];
    }),
  );
  for (const { field, schema } of schemas) {
    const problem = await findSchemaProblem(validator, schema);
    if (problem) problems.push({ field, message: problem.message });
  }
  if (problems.length === 0) return;
  const errors = problems
    .slice(0, PROBLEMS_MAX)
    .map((problem) => ({ field: `${field}.${problem.field}`, message: problem.message }));
  throw new ServiceError(
    'VALIDATION_ERROR',
    errors.map((error) => `${error.field}: ${error.message}`).join('; '),
    { errors },
  );
}

/**
 * Returns the outputs that a run of a draft has in place of running blocks, in their stored form; {} without any. `field`: their
 * name in the request. Throws VALIDATION_ERROR.
 */
export function requireValidPins(
  definition: FlowDefinition,
  field: string,
  sent: unknown,
): Pick<StoredRunInput, 'pinned_outputs'> {
  const pins = (sent ?? {}) as NonNullable<StoredRunInput['pinned_outputs']>;
  const stepIds = Object.keys(pins);
  if (stepIds.length === 0) return {};
  const known = new Set(listBlocks(definition).map(({ step_id }) => step_id));
  const unknown = stepIds.find((stepId) => !known.has(stepId));
  if (unknown !== undefined)
    throw invalidField(`${field}.${unknown.slice(0, 100)}`, 'names no block of this draft');
  const bytes = Buffer.byteLength(JSON.stringify(pins));
  if (bytes > OUTPUT_MAX_BYTES)
    throw invalidField(field, `has ${bytes} bytes as JSON; at most ${OUTPUT_MAX_BYTES} are allowed`);
  return { pinned_outputs: pins };
}

async function findSchemaProblem(
  validator: OrganizationValidator,
  schema: JsonSchema,
): Promise<{ message: string; path: unknown } | undefined> {
  try {
    await validator.requireValidSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return { message: error.message, path: error.extra.path };
    throw error;
  }
}

/**
 * Throws MODEL_MIME_INCOMPATIBLE unless the model of every llm block, after overrides, accepts every attachment.
 * Throws CAPABILITY_REGISTRY_UNAVAILABLE, with Retry-After, while the models' capabilities are unknown.
 */
export function requireImageSupport(
  registry: LiveRegistry,
  run: { definition: FlowDefinition; overrides: BlockOverrides; attachments: Attachment[] },
): void {
  if (run.attachments.length === 0) return;
  if (!registry.isAvailable()) throw registryUnavailable();
  for (const stored of listBlocks(run.definition)) {
    const { step_id } = stored;
    const block = applyOverride(stored, overrideOf(run.overrides, step_id));
    if (block.processor_type !== 'llm') continue;
    const { model = '' } = block;
    // No run can use an unknown model.
    const { image_mime_types: taken = [], image_urls } = registry.find(model) ?? {};
    for (const [index, { mime_type }] of run.attachments.entries()) {
      if (image_urls === false) throw urlIncompatible({ step_id, model, mime_type, index });
      if (!taken.includes(mime_type)) throw mimeIncompatible({ step_id, model, mime_type, index });
    }
  }
}

export function registryUnavailable(): ServiceError {
  return new RetryLater(
    'CAPABILITY_REGISTRY_UNAVAILABLE',
    `The service does not know yet which models take images: try again in ${RETRY_SECONDS} s.`,
    RETRY_SECONDS,
  );
}

type RefusedImage = { step_id: string; model: string; mime_type: string; index: number };

export function mimeIncompatible({ step_id, model, mime_type, index }: RefusedImage): ServiceError {
  return new ServiceError(
    'MODEL_MIME_INCOMPATIBLE',
    `attachments.${index}.mime_type: ${model}, the model of block ${step_id}, does not take ${mime_type}.`,
    { step_id, model, unsupported_mime: mime_type, index },
  );
}

/** Makes the error for a server that takes images only as base64. */
function urlIncompatible({ step_id, model, mime_type, index }: RefusedImage): ServiceError {
  return new ServiceError(
    'MODEL_MIME_INCOMPATIBLE',
    `attachments.${index}.url: the server of ${model}, the model of block ${step_id}, does not load images from URLs.`,
    { step_id, model, unsupported_mime: mime_type, index },
  );
}

type AcceptedTools = { tools?: ToolDefinition[]; tool_choice?: ToolChoice };

/**
 * Returns the tools of a request in their stored form; {} when it has none. `steps`: the steps to run. Throws
 * TOOLS_INVALID, TOOLS_NOT_ENABLED, TOOLS_IN_NON_SEQUENTIAL_STEP or MODEL_TOOLS_UNSUPPORTED.
 */
export async function requireTools(
  { registry, validator }: Pick<AcceptDeps, 'registry'> & { validator: OrganizationValidator },
  definition: FlowDefinition,
  overrides: BlockOverrides,
  asked: { tools?: unknown; toolChoice?: unknown },
  steps = definition.steps,
): Promise<AcceptedTools> {
  const { tools = [], toolChoice } = asked as { tools?: ToolDefinition[]; toolChoice?: ToolChoice };
  requireChoice({ tools, toolChoice });
  if (tools.length === 0) return {};
  requireToolSteps(definition);
  const enabled = listToolSteps({ steps });
  for (const block of listBlocks({ steps }).filter(({ step_id }) => enabled.includes(step_id))) {
    const { model = '' } = applyOverride(block, overrideOf(overrides, block.step_id));
    // A block with an unknown model fails at run time, with or without tools.
    if (registry.find(model)?.tools === false) throw toolsUnsupported(model, block.step_id);
  }
  const problem = await findParametersProblem(validator, tools);
  if (problem) {
    const { field, tool, message, path } = problem;
    const errors = [{ field, message }];
    const detail = { errors, tool, path };
    throw new ServiceError('TOOLS_INVALID', `${field}: the parameters of ${tool}: ${message}`, detail);
  }
  return { tools, ...(toolChoice !== undefined && { tool_choice: toolChoice }) };
}

const NO_OBJECT = { message: 'the type must be object, as the arguments of a call are', path: '/type' };

/** Finds the first tool whose parameters are not a usable JSON Schema of objects. */
export async function findParametersProblem(
  validator: OrganizationValidator,
  tools: ToolDefinition[],
): Promise<{ field: string; tool: string; message: string; path: unknown } | undefined> {
  for (const [index, { function: called }] of tools.entries()) {
    if (called.parameters === undefined) continue;
    const parameters = called.parameters as JsonSchema;
    const problem = await findSchemaProblem(validator, parameters);
    const found = problem ?? (takesObjects(parameters) ? undefined : NO_OBJECT);
    if (found) return { ...found, field: `tools.${index}.function.parameters`, tool: called.name };
  }
  return undefined;
}

export function toolsUnsupported(model: string, stepId: string): ServiceError {
  return new ServiceError(
    'MODEL_TOOLS_UNSUPPORTED',
    `The model ${model} of the block ${stepId} does not support tool calling: choose another one.`,
    { step_id: stepId, model },
  );
}

/**
 * Throws FORBIDDEN while the organization is suspended, and INSUFFICIENT_CREDITS. Called right before a call is
 * stored, so that a repeated request still gets its earlier call.
 */
export function requireMayRun(limits: Omit<RunLimits, 'runsUnderWayMax'>): void {
  if (limits.suspendedAt) throw suspended(limits.suspensionReason);
  if (limits.balanceMicrocredits <= 0) throw noCredits();
}

export function suspended(reason: string | null): ServiceError {
  const text =
    'The operator of the service has suspended the organization: it can begin and continue no runs until the operator lets it go on.';
  return new ServiceError('FORBIDDEN', reason ? `${text} The reason given: ${reason}` : text);
}

export function noCredits(): ServiceError {
  return new ServiceError(
    'INSUFFICIENT_CREDITS',
    'The organization has no credits, or none left: the operator of the service grants them, with `weir operator credits grant <organization> <credits>`.',
  );
}

import type { FlowDefinition } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks } from '../../../flow/plan.ts';
import {
  listToolSteps,
  requireToolSteps,
  type ToolChoice,
  type ToolDefinition,
} from '../../../flow/tool-calls.ts';
import type { AcceptDeps } from '../../deps.ts';
import { requireChoice } from '../run-shapes/tool-requests.ts';

/**
 * Returns the tools of a request in their stored form; {} when it has none. `steps`: the steps to run. Throws
 * TOOLS_INVALID, TOOLS_NOT_ENABLED, TOOLS_IN_NON_SEQUENTIAL_STEP or MODEL_TOOLS_UNSUPPORTED.
 */
export function requireTools(
  { registry }: Pick<AcceptDeps, 'registry'>,
  definition: FlowDefinition,
  overrides: BlockOverrides,
  asked: { tools?: unknown; toolChoice?: unknown },
  steps = definition.steps,
): { tools?: ToolDefinition[]; tool_choice?: ToolChoice } {
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
  return { tools, ...(toolChoice !== undefined && { tool_choice: toolChoice }) };
}

export function toolsUnsupported(model: string, stepId: string): ServiceError {
  return new ServiceError(
    'MODEL_TOOLS_UNSUPPORTED',
    `The model ${model} of the block ${stepId} does not support tool calling: choose another one.`,
    { step_id: stepId, model },
  );
}

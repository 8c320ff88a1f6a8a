// Steps in one line each, for tests.
import type { Block, Step } from '../flow/definition.ts';
import { CODE_TIMEOUT_MAX_MS } from '../flow/limits.ts';

/** A code block, with all the time there is: a slow machine is no reason to fail. */
export function code(stepId: string, prompt: string, more: Partial<Block> = {}): Step {
  const processor_config = { timeout_ms: CODE_TIMEOUT_MAX_MS };
  const block = { name: stepId, processor_type: 'code', prompt, processor_config } as const;
  return { type: 'sequential', step_id: stepId, ...block, ...more };
}

/** A passthrough block. */
export function passthrough(stepId: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'passthrough', ...more };
}

/** An llm block. */
export function llm(stepId: string, prompt: string, model: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'llm', prompt, model, ...more };
}

// Steps in one line each, for tests.
import type { Block, Step } from '../flow/definition.ts';

/** A code block. */
export function code(stepId: string, prompt: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'code', prompt, ...more };
}

/** A passthrough block. */
export function passthrough(stepId: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'passthrough', ...more };
}

/** An llm block. */
export function llm(stepId: string, prompt: string, model: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'llm', prompt, model, ...more };
}

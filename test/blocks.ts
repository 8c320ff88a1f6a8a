// Makes flow steps for tests, each in one line.
import type { Block, Step } from '../flow/definition.ts';
import { CODE_TIMEOUT_MAX_MS } from '../flow/limits.ts';

/** Makes a code block with the longest timeout, so that a slow machine is no reason to fail. */
export function code(stepId: string, prompt: string, more: Partial<Block> = {}): Step {
  const processor_config = { timeout_ms: CODE_TIMEOUT_MAX_MS };
  const block = { name: stepId, processor_type: 'code', prompt, processor_config } as const;
  return { type: 'sequential', step_id: stepId, ...block, ...more };
}

/** Makes a passthrough block. */
export function passthrough(stepId: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'passthrough', ...more };
}

/** Makes an llm block. */
export function llm(stepId: string, prompt: string, model: string, more: Partial<Block> = {}): Step {
  return { type: 'sequential', step_id: stepId, name: stepId, processor_type: 'llm', prompt, model, ...more };
}

/** Puts a step into a parallel step, where model calls are regular activities. */
export function beside(step: Step): Step {
  return { type: 'parallel', step_id: 'beside', name: 'beside', branches: { only: [step] } };
}

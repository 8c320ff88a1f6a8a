import type { FlowDefinition } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';

/**
 * Reports fields that have no effect in their kind of block (docs/blocks.md). The API allows every field in every
 * block.
 */
export function noteUnusedFields(definition: FlowDefinition): string[] {
  return listBlocks(definition).flatMap(({ step_id, processor_type, model, prompt, processor_config }) => {
    if (processor_type === 'llm') return [];
    const isCode = processor_type === 'code';
    const settings = Object.keys(processor_config ?? {}).filter((key) => !isCode || key !== 'timeout_ms');
    const unused = [
      ...(model === undefined ? [] : ['model']),
      ...(isCode || prompt === undefined ? [] : ['prompt']),
      ...settings.map((key) => `processor_config.${key}`),
    ];
    if (unused.length === 0) return [];
    return `${step_id} is a ${processor_type} block, in which this has no effect: ${unused.join(', ')}.`;
  });
}

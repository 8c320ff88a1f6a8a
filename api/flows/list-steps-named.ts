import type { Block } from '../../flow/definition.ts';
import { listTemplateSteps } from '../../flow/template.ts';
import type { CodeFindings } from '../../platform/javascript/read-code.ts';

/**
 * Lists the steps whose outputs a block is known to read (docs/blocks.md, Outputs of earlier steps). `code`: the
 * findings in the block's code.
 */
export function listStepsNamed({ processor_type, prompt = '' }: Block, code: CodeFindings): string[] {
  return processor_type === 'llm' ? listTemplateSteps(prompt) : code.named;
}

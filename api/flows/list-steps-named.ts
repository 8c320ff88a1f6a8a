import type { Block } from '../../flow/definition.ts';
import { listTemplateSteps } from '../../flow/template.ts';
import type { CodeFindings } from '../../platform/javascript/read-code.ts';

/** Lists the steps whose outputs a block names for sure (docs/blocks.md, Outputs of earlier steps). `code`: that of the block. */
export function listStepsNamed({ processor_type, prompt = '' }: Block, code: CodeFindings): string[] {
  return processor_type === 'llm' ? listTemplateSteps(prompt) : code.named;
}

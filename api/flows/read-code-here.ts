import type { Block } from '../../flow/definition.ts';
import { type CodeFindings, readCode } from '../../platform/javascript/read-code.ts';

/** The findings in a block without code. */
export const NOTHING: CodeFindings = { named: [] };

/** Analyses the code of a block synchronously, for commands, which delay nobody else. */
export function readCodeHere({ processor_type, prompt }: Block): CodeFindings {
  return processor_type === 'code' && prompt ? readCode(prompt) : NOTHING;
}

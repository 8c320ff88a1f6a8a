import type { Block } from './definition.ts';
import { CODE_TIMEOUT_MAX_MS } from './limits.ts';

/** Says why a block of this type cannot have this `timeout_ms`; undefined when it can. */
export function findTimeoutProblem(
  type: Block['processor_type'],
  config: Block['processor_config'] = {},
): string | undefined {
  if (type !== 'code' || (config.timeout_ms ?? 0) <= CODE_TIMEOUT_MAX_MS) return undefined;
  return `The timeout_ms of a code block is at most ${CODE_TIMEOUT_MAX_MS}.`;
}

import type { RunContext } from '../db/runs/runs.ts';
import type { Block } from '../flow/definition.ts';
import { MODEL_RETRIES_AWAITED, MODEL_RETRIES_MAX } from '../flow/limits.ts';
import type { ModelUnavailable } from './attempts/model-unavailable.ts';
import type { Attempt } from './attempts/run-attempt.ts';

/** A model call is given up after this many unreadable answers: each may have cost the provider's price. */
const UNREADABLE_MAX = 3;

/** Whether a model call that its provider refused, or answered in no readable way, is not repeated any more. */
export function isGivenUp(
  { isUnreadable }: ModelUnavailable,
  attempt: Attempt,
  block: Block,
  context: RunContext,
): boolean {
  if (isUnreadable && attempt.unreadable + 1 >= UNREADABLE_MAX) return true;
  const retries = context.awaited ? MODEL_RETRIES_AWAITED : MODEL_RETRIES_MAX;
  return attempt.refusals >= (block.processor_config?.max_retries ?? retries);
}

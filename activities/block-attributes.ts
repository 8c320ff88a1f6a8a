import type { BlockCall } from '../flow/run.ts';

/** Returns the attributes that name a block execution in its spans. */
export function blockAttributes({
  executionId,
  blockKey,
  stepId,
}: Pick<BlockCall, 'executionId' | 'blockKey' | 'stepId'>) {
  return { 'weir.call.id': executionId, 'weir.block.key': blockKey, 'weir.step.id': stepId };
}

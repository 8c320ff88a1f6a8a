import type { BlockCall } from '../flow/run.ts';

/** Returns the attributes that name a block execution in its spans. */
export function blockAttributes({
  executionId: callId,
  blockKey,
  stepId,
}: Pick<BlockCall, 'executionId' | 'blockKey' | 'stepId'>) {
  return { 'weir.call.id': callId, 'weir.block.key': blockKey, 'weir.step.id': stepId };
}

import type { EarlierAttempt } from '../flow/model-call.ts';
import type { BlockCall } from '../flow/run.ts';
import { addToLogContext } from '../platform/observability/log.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { type Attempt, runAttempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { showRefusal } from './show-under-way.ts';

/**
 * Runs one attempt at a block, as `runAttempt` does. Its signal also aborts when the call is cancelled or has failed. `earlier`:
 * the state of the local attempt that this one repeats.
 */
export function runBlockAttempt<T>(
  { db, cancellations }: Pick<ActivityDeps, 'db' | 'cancellations'>,
  blocks: BlockExecutor,
  { executionId: callId, ...block }: BlockCall,
  work: (execution: BlockExecution, attempt: Attempt) => Promise<T>,
  earlier?: EarlierAttempt,
): Promise<T> {
  const execution = { callId, ...block };
  return runAttempt(
    (attempt) => {
      addToLogContext({ block: block.blockKey });
      return cancellations.run(callId, attempt.signal, (signal) => {
        attempt.signal = signal;
        return work(execution, attempt);
      });
    },
    {
      isBlock: true,
      earlier,
      onRefusal: (attempt, refusal) => showRefusal(db, blocks, execution, attempt, refusal),
    },
  );
}

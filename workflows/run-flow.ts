import { ApplicationFailure, CancellationScope, upsertSearchAttributes } from '@temporalio/workflow';
import { interpret } from '../flow/interpreter.ts';
import type { RunInput, RunOutcome } from '../flow/run.ts';
import { isPause, type Pause } from '../flow/tool-calls.ts';
import { MESSAGE_REF, type Value } from '../flow/value.ts';
import { recordRun } from './activities.ts';
import { createBlockScheduler } from './block-scheduler.ts';
import { createInspector } from './create-inspector.ts';
import { describeFailure } from './describe-failure.ts';
import { startRunDelivery } from './start-run-delivery.ts';

/**
 * Runs a flow: interprets its plan, whose blocks are activities, and records the end. Returns the result as a
 * Value, or the point at which the run waits for its caller's tools; a failed run ends as an ApplicationFailure whose type is
 * the ErrorCode.
 */
export async function runFlow({
  executionId: callId,
  steps,
  input = { ref: MESSAGE_REF },
  continues,
  callback,
}: RunInput): Promise<Value | Pause> {
  const blocks = new CancellationScope();
  const last = continues ? undefined : steps.at(-1);
  const lastBlock = last?.type === 'sequential' ? last : undefined;
  let outcome: RunOutcome;
  try {
    const reply = await blocks.run(() =>
      interpret(steps, input, {
        runBlock: createBlockScheduler({ callId, steps, lastBlock }),
        ...createInspector(callId),
      }),
    );
    outcome = isPause(reply)
      ? { status: 'tool_calls_required', pause: reply.paused }
      : { status: 'completed', result: reply };
  } catch (error) {
    // Cancel branches of a parallel step that are still running, so that they stop spending.
    blocks.cancel();
    outcome = { status: 'failed', error: describeFailure(error, callId) };
  }
  let end = outcome;
  return CancellationScope.nonCancellable(async () => {
    // Of completed runs it is not shown: that saves the engine a write for each.
    if (end.status !== 'completed') showOutcome(end.status);
    if (end.status !== 'completed' || !lastBlock) {
      const other = await recordRun(callId, end);
      if (other) {
        end = other;
        showOutcome(end.status);
      }
    }
    if (callback) await startRunDelivery(callId);
    if (end.status === 'completed') return end.result;
    if (end.status === 'tool_calls_required') return { paused: end.pause };
    throw ApplicationFailure.nonRetryable(end.error.message, end.error.code, end.error);
  });
}

function showOutcome(status: RunOutcome['status']): void {
  upsertSearchAttributes([{ key: { name: 'WeirOutcome', type: 'KEYWORD' }, value: status }]);
}

// Blocks that follow each other run in one local activity, which costs the engine and the SDK as much as one block. Each is a
// block execution of its own all the same: recorded, charged and shown when it ends.
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ProcessorType } from '../flow/definition.ts';
import type { RanAhead, Unfinished } from '../flow/ran-ahead.ts';
import { type BlockCall, BUSY, isBusy } from '../flow/run.ts';
import { isPause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { inSpan } from '../platform/observability/tracing.ts';
import { blockAttributes } from './block-attributes.ts';

/** No block begins later than this after the first one, so that the run can be cancelled and parked between two activities. */
const RUN_AHEAD_MAX_MS = 1_500;

type BlockRunners = {
  run: Record<ProcessorType, (call: BlockCall) => Promise<Value | Unfinished>>;
  /** Whether the workflow task of the call was lost with its workers again and again. */
  losesWorkers(callId: string, historyLength: number): Promise<boolean>;
};

/**
 * Makes the activity of a block of this type, which runs the `next` blocks of its call too, as long as there is room and they
 * take little time. One that fails in a way that may pass is left to an activity of its own. When workers are lost again and
 * again, each block has its own, and code and passthrough blocks go on as regular activities, which are delayed, and parked in
 * the end.
 */
export function runAhead<Call extends BlockCall>(
  { run, losesWorkers }: BlockRunners,
  type: ProcessorType,
): (call: Call) => Promise<Value | Unfinished | RanAhead> {
  return async ({ next = [], historyLength, ...call }) => {
    const began = performance.now();
    const { executionId: callId } = call;
    const isLosing = historyLength !== undefined && (await losesWorkers(callId, historyLength));
    if (isLosing && type !== 'llm') return BUSY;
    const reply = await run[type](call);
    const { info, cancellationSignal } = Context.current();
    // The number of an attempt is that of the first block.
    if (isLosing || isBusy(reply) || isPause(reply) || info.attempt > 1) return reply;
    const outputs = [reply];
    for (const { processorType, ...block } of next) {
      if (performance.now() - began > RUN_AHEAD_MAX_MS || cancellationSignal.aborted) break;
      const attributes = blockAttributes({ executionId: callId, ...block });
      try {
        const output = await inSpan(`RunBlock:${processorType}`, { attributes }, () =>
          run[processorType]({ executionId: callId, ...block, input: outputs.at(-1) as Value }),
        );
        if (isBusy(output) || isPause(output))
          return { outputs, unfinished: { blockKey: block.blockKey, reply: output } };
        outputs.push(output);
      } catch (error) {
        if (!(error instanceof ApplicationFailure) || !error.nonRetryable) break;
        const { type, message } = error;
        return { outputs, failed: { blockKey: block.blockKey, type: type ?? '', message } };
      }
    }
    return outputs.length > 1 ? { outputs } : reply;
  };
}

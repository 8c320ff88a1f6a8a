// activities/ has the effects of a run: model calls, user code, webhooks, and the trace and charge of each block. Workflows
// call activities by the names below, which operators read in the Temporal Web UI. Inputs and outputs are `Value`s
// (flow/value.ts). An error for a caller is a failure whose type is the ErrorCode. attempts/ runs an attempt of any
// activity, model/ asks models, code/ runs user code, deliveries/ sends webhooks, values/ reads and checks values.

import { findOutcome, finishRun } from '../db/runs/runs.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import type { Json, LoopCondition } from '../flow/definition.ts';
import type { DeliveryCall } from '../flow/delivery.ts';
import { type ItemCounts, inspectItems, meets } from '../flow/interpreter.ts';
import { type BlockCall, CANCELLED, type RunOutcome } from '../flow/run.ts';
import type { JudgeRun, ToolAnswers } from '../flow/test-case.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { acceptTest } from './accept-test.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { type Attempt, runAttempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import { createBlockExecutor } from './block-executor.ts';
import { evaluateTest, type LastCall, readJudgement } from './evaluate-test.ts';
import { createModelCaller } from './model-activities.ts';
import { runBlockAttempt } from './run-block-attempt.ts';
import { runCode } from './run-code.ts';
import { showUnderWay } from './show-under-way.ts';

export type Activities = ReturnType<typeof createActivities>;

type BlockWork = (execution: BlockExecution, attempt: Attempt) => Promise<Value | Pause>;

/** Creates the activities over their dependencies, which the caller opens and closes. */
export function createActivities(deps: ActivityDeps) {
  const blocks = createBlockExecutor(deps);
  const inspect = <T>(callId: string, value: Value, look: (json: Json) => T): Promise<T> =>
    runAttempt((attempt) => blocks.inspect(callId, value, attempt, look));
  const runBlock = (call: BlockCall, work: BlockWork) =>
    runBlockAttempt(deps, blocks, call, (execution, attempt) =>
      showUnderWay(deps.db, blocks, execution, attempt, () => work(execution, attempt)),
    );
  return {
    /** Makes the model call (and at most one repair) of an llm block; the block may pause for the caller's tools. */
    callModel: createModelCaller(deps, blocks),

    /** Runs the JavaScript of a code block in the sandbox. */
    runCode: (call: BlockCall): Promise<Value | Pause> =>
      runBlock(call, (execution, attempt) => runCode(deps, blocks, execution, attempt)),

    /** Returns the input of a passthrough block as its output. */
    passThrough: (call: BlockCall): Promise<Value | Pause> =>
      runBlock(call, (execution, attempt) =>
        blocks.run(execution, attempt, async ({ input }) => ({ output: input })),
      ),

    /** Counts the items of a stored value; undefined when it is not an array. */
    inspectValue: (callId: string, value: Value): Promise<ItemCounts> => inspect(callId, value, inspectItems),

    /** Tells whether a loop's condition holds for a stored value. */
    checkCondition: (callId: string, condition: LoopCondition, value: Value): Promise<boolean> =>
      inspect(callId, value, (json) => meets(condition, json)),

    /** Accepts the run of a test case, once. */
    acceptTest: (executionId: string): Promise<void> =>
      runAttempt((attempt) => acceptTest(deps, executionId, attempt)),

    /** Records the verdict on a test case whose run has ended, or returns the run of the model that is to judge it. */
    evaluateTest: (executionId: string, last?: LastCall): Promise<JudgeRun | ToolAnswers | undefined> =>
      runAttempt((attempt) => evaluateTest(deps, executionId, attempt, last)),

    /** Records the verdict of the ended run that judged a test case. */
    readJudgement: (executionId: string): Promise<void> =>
      runAttempt((attempt) => readJudgement(deps, executionId, attempt)),

    /** Records the end of a test run, once. */
    finishTestRun: (testRunId: string): Promise<void> => runAttempt(() => finishTestRun(deps.db, testRunId)),

    /** Finds the webhook delivery of an ended run; undefined when there is none. */
    findRunDelivery: (executionId: string): Promise<DeliveryCall | undefined> =>
      runAttempt(() => findRunDelivery(deps.db, executionId)),

    /**
     * Records the end of a call, once; returns what was recorded instead of `outcome`, as after a cancellation, which an attempt
     * whose answer was lost may have recorded.
     */
    recordRun: (callId: string, outcome: RunOutcome): Promise<RunOutcome | undefined> =>
      runAttempt(async () => {
        const recorded = await finishRun(deps.db, callId, outcome);
        if (!recorded) {
          const known = await findOutcome(deps.db, callId);
          return known?.status === 'failed' && known.error.code === CANCELLED.code ? known : undefined;
        }
        // Callers who wait for a failed run get the blocks that were in flight with it.
        if (recorded.status === 'failed') await deps.cancellations.stop(callId);
        deps.inProcessRuns.end(callId, recorded);
        return recorded === outcome ? undefined : recorded;
      }),
  };
}

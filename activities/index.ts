// activities/ has the effects of a run: model calls, user code, webhooks, and the trace and charge of each block. Workflows
// call activities by the names below, which operators read in the Temporal Web UI. Inputs and outputs are `Value`s
// (flow/value.ts). An error for a caller is a failure whose type is the ErrorCode. attempts/ runs an attempt of any
// activity, model/ asks models, code/ runs user code, deliveries/ sends webhooks, values/ reads and checks values.

import { parkRun, unparkRun } from '../db/runs/parked-runs.ts';
import { findOutcome, finishRun } from '../db/runs/runs.ts';
import { finishTestRun } from '../db/test-runs/test-runs.ts';
import { findRunDelivery } from '../db/webhooks/open-deliveries.ts';
import { takeTurn } from '../db/webhooks/webhook-turns.ts';
import type { Json, LoopCondition } from '../flow/definition.ts';
import type { DeliveryCall } from '../flow/delivery.ts';
import { inspectItems, meets } from '../flow/interpreter.ts';
import type { ModelBlockCall } from '../flow/model-call.ts';
import { type BlockCall, type Busy, CANCELLED, type RunOutcome } from '../flow/run.ts';
import type { JudgeRun } from '../flow/test-case.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { addToLogContext } from '../platform/observability/log.ts';
import { acceptTestInTurn } from './accept-test-in-turn.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { inSlot } from './attempts/in-slot.ts';
import { orBusy } from './attempts/reserve-memory.ts';
import { type Attempt, runAttempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import { type BlockExecutor, createBlockExecutor } from './block-executor.ts';
import { evaluateTest, readJudgement } from './evaluate-test.ts';
import { hasLostWorkersInTask } from './has-lost-workers-in-task.ts';
import { createLosesWorkers } from './loses-workers.ts';
import { createModelCaller } from './model-activities.ts';
import { runAhead } from './run-ahead.ts';
import { runCode } from './run-code.ts';
import { showRefusal, showUnderWay } from './show-under-way.ts';

export type Activities = ReturnType<typeof createActivities>;

/** Creates the activities over their dependencies, which the caller opens and closes. */
export function createActivities(deps: ActivityDeps) {
  const blocks = createBlockExecutor(deps);
  const inspect = <T>(callId: string, value: Value, look: (json: Json) => T): Promise<T | Busy> =>
    runAttempt((attempt) =>
      inSlot(deps.slots.blocks, attempt, () => blocks.inspect(callId, value, attempt, look)),
    );
  const { contexts } = deps.inProcessRuns;
  const runners = {
    run: {
      llm: createModelCaller(deps, blocks),
      code: createBlockRunner(deps, blocks, (execution, attempt) =>
        runCode(deps, blocks, execution, attempt),
      ),
      passthrough: createBlockRunner(deps, blocks, (execution, attempt) =>
        blocks.run(execution, attempt, async ({ input }) => ({ output: input })),
      ),
    },
    losesWorkers: createLosesWorkers(
      (callId) => contexts.has(callId),
      (historyLength) => runAttempt(() => hasLostWorkersInTask(historyLength)),
    ),
  };
  return {
    /** Makes the model call (and at most one repair) of an llm block; the block may pause for the caller's tools. */
    callModel: runAhead<ModelBlockCall>(runners, 'llm'),

    /** Runs the JavaScript of a code block in the sandbox. */
    runCode: runAhead(runners, 'code'),

    /** Returns the input of a passthrough block as its output. */
    passThrough: runAhead(runners, 'passthrough'),

    /** Counts the items of a stored value; undefined when it is not an array. */
    inspectValue: (callId: string, value: Value): Promise<{ items: number | undefined } | Busy> =>
      inspect(callId, value, inspectItems),

    /** Tells whether a loop's condition holds for a stored value. */
    checkCondition: (callId: string, condition: LoopCondition, value: Value): Promise<boolean | Busy> =>
      inspect(callId, value, (json) => meets(condition, json)),

    /** Accepts the run of a test case, once. */
    acceptTest: (executionId: string): Promise<void> =>
      runAttempt((attempt) =>
        inSlot(deps.slots.testStarts, attempt, () => acceptTestInTurn(deps, executionId, attempt)),
      ),

    /** Records the verdict on a test case whose run has ended, or returns the run of the model that is to judge it. */
    evaluateTest: (executionId: string): Promise<JudgeRun | undefined> =>
      runAttempt((attempt) =>
        inSlot(deps.slots.verdicts, attempt, () => evaluateTest(deps, executionId, attempt)),
      ),

    /** Records the verdict of the ended run that judged a test case. */
    readJudgement: (executionId: string): Promise<void> =>
      runAttempt((attempt) =>
        inSlot(deps.slots.verdicts, attempt, () => readJudgement(deps, executionId, attempt)),
      ),

    /** Records the end of a test run, once. */
    finishTestRun: (testRunId: string): Promise<void> => runAttempt(() => finishTestRun(deps.db, testRunId)),

    /**
     * Finds the webhook delivery of an ended run and takes its turn; undefined when there is none, or its turn has not come.
     * It has this name in recorded histories.
     */
    findRunDelivery: (executionId: string): Promise<DeliveryCall | undefined> =>
      runAttempt(async () => {
        const call = await findRunDelivery(deps.db, executionId);
        return call && (await takeTurn(deps.db, call)) ? call : undefined;
      }),

    /** Records that a call is parked: it waits for an operator. */
    parkRun: (callId: string): Promise<void> => runAttempt(() => parkRun(deps.db, callId)),

    /** Records that a call is no longer parked. */
    unparkRun: (callId: string): Promise<void> => runAttempt(() => unparkRun(deps.db, callId)),

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
        deps.inProcessRuns.end(callId, recorded);
        return recorded === outcome ? undefined : recorded;
      }),
  };
}

/** Creates the function that runs a block, from its work. */
function createBlockRunner(
  { db, slots }: Pick<ActivityDeps, 'db' | 'slots'>,
  blocks: BlockExecutor,
  work: (execution: BlockExecution, attempt: Attempt) => Promise<Value | Pause | Busy>,
): (call: BlockCall) => Promise<Value | Pause | Busy> {
  return ({ executionId: callId, ...block }) => {
    const execution = { callId, ...block };
    return runAttempt(
      async (attempt) => {
        addToLogContext({ block: block.blockKey });
        return inSlot(slots.blocks, attempt, () =>
          showUnderWay(db, blocks, execution, attempt, () => orBusy(attempt, () => work(execution, attempt))),
        );
      },
      {
        isBlock: true,
        onRefusal: (attempt, refusal) => showRefusal(db, blocks, execution, attempt, refusal),
      },
    );
  };
}

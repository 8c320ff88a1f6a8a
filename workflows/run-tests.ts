import { CancellationScope, executeChild, workflowInfo } from '@temporalio/workflow';
import type { PlannedStep } from '../flow/plan.ts';
import { type CallIds, RUN_FLOW, type RunInput, workflowIdOf } from '../flow/run.ts';
import type { RunTestsInput } from '../flow/test-case.ts';
import { acceptTest, evaluateTest, finishTestRun, readJudgement } from './activities.ts';
import type { runFlow } from './run-flow.ts';

/** Test cases of one test run that are under way at a time. */
const TESTS_AT_ONCE = 8;

/** Runs the test cases of a version or draft, each as a run of its own, and judges the answers. Verdicts are in the cases' rows. */
export async function runTests({ testRunId, steps, tests }: RunTestsInput): Promise<void> {
  const scope = CancellationScope.current();
  const waiting = tests.values();
  await Promise.all(
    Array.from({ length: TESTS_AT_ONCE }, async () => {
      // A case without a verdict is recorded as an error at the end.
      for (const test of waiting)
        if (!scope.consideredCancelled) await runTest(test, steps).catch(() => undefined);
    }),
  );
  await CancellationScope.nonCancellable(() => finishTestRun(testRunId));
}

async function runTest(
  { executionId, name }: RunTestsInput['tests'][number],
  steps: PlannedStep[],
): Promise<void> {
  await acceptTest(executionId);
  await runToEnd({ executionId, callId: executionId }, { executionId, steps }, name);
  let next = await CancellationScope.nonCancellable(() => evaluateTest(executionId));
  // Each round of tool calls is a call of the run.
  while (next && 'call' in next) {
    const { call, input, used } = next;
    await runToEnd(call, input, name);
    const last = { callId: call.callId, used };
    next = await CancellationScope.nonCancellable(() => evaluateTest(executionId, last));
  }
  if (!next) return;
  const judge = { executionId: next.executionId, callId: next.executionId };
  await runToEnd(judge, next, `${name}: judge`);
  await CancellationScope.nonCancellable(() => readJudgement(executionId));
}

/**
 * Starts a call of a run and waits for its end; the outcome is in its row. Where the reconciler has started it already, this
 * returns at once, and `evaluateTest` is repeated until the run has ended.
 */
async function runToEnd(call: CallIds, input: RunInput, name: string): Promise<void> {
  await executeChild<typeof runFlow>(RUN_FLOW, {
    workflowId: workflowIdOf(call),
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
    staticSummary: name,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
  }).catch(() => undefined);
}

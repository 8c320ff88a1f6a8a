import { CancellationScope, executeChild, workflowInfo } from '@temporalio/workflow';
import type { PlannedStep } from '../flow/plan.ts';
import { RUN_FLOW } from '../flow/run.ts';
import type { RunTestsInput } from '../flow/test-case.ts';
import { acceptTest, evaluateTest, finishTestRun, readJudgement } from './activities.ts';
import type { runFlow } from './run-flow.ts';

/** Test cases of one test run that are under way at a time. */
const TESTS_AT_ONCE = 4;

/** Runs the test cases of a draft, each as a run of its own, and judges the answers. Each verdict is in the case's row. */
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
  await runToEnd(executionId, steps, name);
  const judge = await CancellationScope.nonCancellable(() => evaluateTest(executionId));
  if (!judge) return;
  await runToEnd(judge.executionId, judge.steps, `${name}: judge`);
  await CancellationScope.nonCancellable(() => readJudgement(executionId));
}

/**
 * Starts a run and waits for its end; the outcome is in the run's row. Where the reconciler has started it already, this
 * returns at once, and `evaluateTest` is repeated until the run has ended.
 */
async function runToEnd(executionId: string, steps: PlannedStep[], name: string): Promise<void> {
  await executeChild<typeof runFlow>(RUN_FLOW, {
    workflowId: executionId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [{ executionId, steps }],
    staticSummary: name,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
  }).catch(() => undefined);
}

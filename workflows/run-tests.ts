import { CancellationScope, executeChild, workflowInfo } from '@temporalio/workflow';
import type { PlannedStep } from '../flow/plan.ts';
import { RUN_FLOW } from '../flow/run.ts';
import type { RunTestsInput } from '../flow/test-case.ts';
import { acceptTest, evaluateTest, finishTestRun, readJudgement } from './activities.ts';
import type { runFlow } from './run-flow.ts';

/** Cases of one test run that are under way at a time. */
const TESTS_AT_ONCE = 4;

/** Runs test cases of a draft, each as a run of its own, and judges the answers. What came of each is in its row. */
export async function runTests({ testRunId, steps, tests }: RunTestsInput): Promise<void> {
  const scope = CancellationScope.current();
  const waiting = tests.values();
  await Promise.all(
    Array.from({ length: TESTS_AT_ONCE }, async () => {
      // A case that nothing comes of is recorded at the end, as an error.
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

/** How the run ended is in its row, where those who ask for it wait: the reconciler may have started it already. */
async function runToEnd(executionId: string, steps: PlannedStep[], name: string): Promise<void> {
  await executeChild<typeof runFlow>(RUN_FLOW, {
    workflowId: executionId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [{ executionId, steps }],
    staticSummary: name,
    typedSearchAttributes: workflowInfo().typedSearchAttributes,
  }).catch(() => undefined);
}

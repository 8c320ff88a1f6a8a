import { CancellationScope, executeChild, workflowInfo } from '@temporalio/workflow';
import { RUN_FLOW } from '../flow/run.ts';
import type { RunTestsInput } from '../flow/test-case.ts';
import { acceptTest, finishTestRun, modelActivities } from './activities.ts';
import type { runFlow } from './run-flow.ts';

/** Cases of one test run that are under way at a time. */
const TESTS_AT_ONCE = 4;

/** Runs test cases of a draft, each as a run of its own, and judges the answers. What came of each is in its row. */
export async function runTests({ testRunId, steps, tests }: RunTestsInput): Promise<void> {
  const { typedSearchAttributes } = workflowInfo();

  async function runTest({ executionId, name }: RunTestsInput['tests'][number]): Promise<void> {
    try {
      await acceptTest(executionId);
      await executeChild<typeof runFlow>(RUN_FLOW, {
        workflowId: executionId,
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        args: [{ executionId, steps }],
        staticSummary: name,
        typedSearchAttributes,
      });
    } catch {
      // How it failed is in its row. One that the reconciler has started already is waited for by what judges it.
    }
    await CancellationScope.nonCancellable(() =>
      modelActivities.evaluateTest.executeWithOptions({ summary: name }, [executionId]),
    ).catch(() => undefined);
  }

  const waiting = tests.values();
  await Promise.all(
    Array.from({ length: TESTS_AT_ONCE }, async () => {
      for (const test of waiting) await runTest(test);
    }),
  );
  await CancellationScope.nonCancellable(() => finishTestRun(testRunId));
}

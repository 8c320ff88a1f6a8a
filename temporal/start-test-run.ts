import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { getTestRunStart } from '../db/test-runs/test-runs.ts';
import { DRAFT_VERSION } from '../flow/definition.ts';
import { toPlan } from '../flow/plan.ts';
import { RUN_TESTS } from '../flow/test-case.ts';
import type { runTests } from '../workflows/run-tests.ts';
import { askEngine } from './ask-engine.ts';
import type { EngineDeps } from './deps.ts';
import { searchAttributesOf } from './search-attributes-of.ts';
import { fairShareOf } from './start-run.ts';

/** Starts the workflow of an accepted test run, unless it was started before. */
export async function startTestRun({ db, client, taskQueue }: EngineDeps, testRunId: string): Promise<void> {
  const { definition, tests, ...run } = await getTestRunStart(db, testRunId);
  const flow = { ...run, version: DRAFT_VERSION, mode: 'test' as const, environment: 'test' as const };
  try {
    await askEngine(client, () =>
      client.workflow.start<typeof runTests>(RUN_TESTS, {
        workflowId: testRunId,
        taskQueue,
        args: [{ testRunId, steps: toPlan(definition.steps), tests }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: `${run.organization}/${run.project}/${run.flow}: ${tests.length} test cases`,
        typedSearchAttributes: searchAttributesOf(flow),
        priority: fairShareOf(flow),
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Environment, RunMode } from '../db/schema.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import { toPlan } from '../flow/plan.ts';
import { RUN_FLOW, type RunInput } from '../flow/run.ts';
import type { runFlow } from '../workflows/run-flow.ts';

/** A caller is told sooner that the engine is away; the run it started is found by the reconciler. */
const START_TIMEOUT_MS = 5_000;

/** What the workflow of an accepted run is started from. */
export type RunStart = {
  executionId: string;
  organization: string;
  project: string;
  flow: string;
  version: number;
  mode: RunMode;
  environment: Environment;
  definition: FlowDefinition;
  /** Whether its caller asked for a webhook. */
  callback?: boolean;
};

/**
 * Starts the workflow of an accepted run, unless it is there already. `here`: this process's worker has it already
 * (an eager start).
 */
export async function startRun(client: Client, taskQueue: string, run: RunStart): Promise<{ here: boolean }> {
  const input: RunInput = {
    executionId: run.executionId,
    steps: toPlan(run.definition.steps),
    ...(run.callback && { callback: true }),
  };
  try {
    const deadline = Date.now() + START_TIMEOUT_MS;
    const handle = await client.withDeadline(deadline, () =>
      client.workflow.start<typeof runFlow>(RUN_FLOW, {
        workflowId: run.executionId,
        taskQueue,
        args: [input],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        requestEagerStart: true,
        staticSummary: `${run.organization}/${run.project}/${run.flow} v${run.version} (${run.mode})`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: { name: 'WeirOrganization', type: 'KEYWORD' }, value: run.organization },
          { key: { name: 'WeirProject', type: 'KEYWORD' }, value: run.project },
          { key: { name: 'WeirFlow', type: 'KEYWORD' }, value: run.flow },
          { key: { name: 'WeirVersion', type: 'INT' }, value: run.version },
          { key: { name: 'WeirMode', type: 'KEYWORD' }, value: run.mode },
          { key: { name: 'WeirEnvironment', type: 'KEYWORD' }, value: run.environment },
        ]),
      }),
    );
    return { here: handle.eagerlyStarted };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { here: false };
    throw error;
  }
}

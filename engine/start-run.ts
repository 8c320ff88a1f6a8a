import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type Priority, TypedSearchAttributes } from '@temporalio/common';
import type { Environment, RunMode } from '../db/schema.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import { toPlan } from '../flow/plan.ts';
import { type CallIds, RUN_FLOW, type RunInput, workflowIdOf } from '../flow/run.ts';
import { INPUT_REF } from '../flow/value.ts';
import type { runFlow } from '../workflows/run-flow.ts';

/** A caller is told sooner that the engine is away; the run it started is found by the reconciler. */
export const START_TIMEOUT_MS = 4_000;

/** What the workflow of an accepted run is started from. */
export type RunStart = CallIds & {
  /** The steps that the call runs, `from` up to `to` (exclusive) of the plan; null: all. */
  from: number | null;
  to: number | null;
  organization: string;
  project: string;
  flow: string;
  version: number;
  mode: RunMode;
  environment: Environment;
  flowVersionId: string;
  definition: FlowDefinition;
  /** Whether its caller asked for a webhook. */
  callback?: boolean;
};

/**
 * Starts the workflow of an accepted run, unless it is there already. `here`: this process's worker has it already
 * (an eager start, unless `eagerly` is false).
 */
export async function startRun(
  client: Client,
  taskQueue: string,
  run: RunStart,
  { eagerly = true } = {},
): Promise<{ here: boolean }> {
  const { executionId, callId, from, to } = run;
  const steps = toPlan(run.definition.steps).slice(from ?? 0, to ?? undefined);
  const input: RunInput = {
    executionId: callId,
    steps,
    ...(from && { input: { ref: INPUT_REF } }),
    ...(callId !== executionId && { continues: true }),
    ...(run.callback && { callback: true }),
  };
  try {
    const deadline = Date.now() + START_TIMEOUT_MS;
    const handle = await client.withDeadline(deadline, () =>
      client.workflow.start<typeof runFlow>(RUN_FLOW, {
        workflowId: workflowIdOf(run),
        taskQueue,
        args: [input],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        requestEagerStart: eagerly,
        staticSummary: `${run.organization}/${run.project}/${run.flow} v${run.version} (${run.mode})`,
        typedSearchAttributes: searchAttributesOf(run),
        priority: fairShareOf(run),
      }),
    );
    return { here: handle.eagerlyStarted };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { here: false };
    throw error;
  }
}

/** Of what waits for workers each organization's is taken in turn, however much another has waiting. */
export function fairShareOf({ organization }: Pick<RunStart, 'organization'>): Priority {
  return { fairnessKey: organization };
}

/** What operators find a workflow of a flow by. */
export function searchAttributesOf(
  run: Pick<RunStart, 'organization' | 'project' | 'flow' | 'version' | 'mode' | 'environment'>,
): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: { name: 'WeirOrganization', type: 'KEYWORD' }, value: run.organization },
    { key: { name: 'WeirProject', type: 'KEYWORD' }, value: run.project },
    { key: { name: 'WeirFlow', type: 'KEYWORD' }, value: run.flow },
    { key: { name: 'WeirVersion', type: 'INT' }, value: run.version },
    { key: { name: 'WeirMode', type: 'KEYWORD' }, value: run.mode },
    { key: { name: 'WeirEnvironment', type: 'KEYWORD' }, value: run.environment },
  ]);
}

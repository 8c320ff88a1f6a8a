import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Priority } from '@temporalio/common';
import { isAwaited } from '../db/runs/runs.ts';
import { getTestRunStart } from '../db/test-runs/test-runs.ts';
import type { FlowDefinition } from '../flow/definition.ts';
import { toPlan } from '../flow/plan.ts';
import { type CallIds, RUN_FLOW, type RunInput, workflowIdOf } from '../flow/run.ts';
import { RUN_TESTS } from '../flow/test-case.ts';
import { INPUT_REF } from '../flow/value.ts';
import { continueTrace, type TraceContext } from '../platform/observability/tracing.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import type { runTests } from '../workflows/run-tests.ts';
import { askEngine } from './ask-engine.ts';
import type { Engine, EngineDeps } from './deps.ts';
import { type FlowRun, searchAttributesOf } from './search-attributes-of.ts';

/** The call of an accepted run, with all that its workflow is started from. */
export type RunStart = CallIds &
  FlowRun & {
    /** The steps that the call runs, `from` up to `to` (exclusive) of the plan; null: all. */
    from: number | null;
    to: number | null;
    flowVersionId: string;
    definition: FlowDefinition;
    /** Whether the caller asked for a webhook. */
    callback?: boolean;
    /** The trace of the request that the call came with. */
    trace?: TraceContext | null | undefined;
  };

/**
 * Starts the workflow of an accepted run, unless it was started before. `here`: this process's worker has it already, by an
 * eager start.
 */
export async function startRun(
  { client, taskQueue }: Engine,
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
    const handle = await continueTrace(run.trace, () =>
      askEngine(client, () =>
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
      ),
    );
    return { here: handle.eagerlyStarted };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return { here: false };
    throw error;
  }
}

/**
 * Has workers take the waiting work of organizations in turn, however much one of them has waiting. Runs that no caller waits
 * for take turns with those of the same organization that a caller waits for. Their key is the slug written so that it is the
 * slug of no organization: a key has no more room than a slug.
 */
export function fairShareOf({ organization, mode }: Pick<RunStart, 'organization' | 'mode'>): Priority {
  return { fairnessKey: isAwaited(mode) ? organization : keyOfJobs(organization) };
}

/** In upper case; without a letter, with a sign for its first digit. */
function keyOfJobs(slug: string): string {
  const inCapitals = slug.toUpperCase();
  if (inCapitals !== slug) return inCapitals;
  return slug.replace(/^\d/, (digit) => SIGNS.charAt(Number(digit)));
}
const SIGNS = '!#$%&()*+=';

/** Starts the workflow of an accepted test run, unless it was started before. */
export async function startTestRun({ db, client, taskQueue }: EngineDeps, testRunId: string): Promise<void> {
  const { definition, tests, ...run } = await getTestRunStart(db, testRunId);
  const flow = { ...run, mode: 'test' as const, environment: 'test' as const };
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

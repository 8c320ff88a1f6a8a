// get_test_run_trace and get_step_trace show the input of each block of a run, what it sent, and its output.
import { z } from 'zod';
import { listBlockTraces, measureTrace } from '../../db/runs/block-traces.ts';
import { findFlowOfRun, findRun, getRunInput, type RunRow } from '../../db/runs/runs.ts';
import { RUN_MODES, RUN_STATUSES } from '../../db/schema.ts';
import { readResult } from '../../db/stored-values/load-references.ts';
import type { ProjectAccess } from '../../db/tenants/projects.ts';
import { findTestOfRun, findTestRun } from '../../db/test-runs/test-results.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { FLOW_STEPS_MAX } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import { eachStep } from '../../flow/step-path.ts';
import { requireVisibleFlow } from '../auth/caller.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';
import { reserveBytes } from '../http/reserve-bytes.ts';
import { cutJson, cutText, VALUE_MAX_CHARS } from '../http/write-json.ts';
import { iterations } from '../runs/run-shapes/block-answers.ts';
import { describeTestRun, testRun, testStatus } from '../test-cases/describe-test-run.ts';
import { blockTrace, traceBlocks } from './block-trace.ts';

/** The most characters of one value of a step; fewer when the step was executed often. */
export const STEP_VALUE_MAX_CHARS = 20_000;

const count = z.int().min(0);
const blocks = z.array(blockTrace);
const leftOut = count.meta({
  description:
    'Block executions between the first and the last that are not shown; get_step_trace shows more of one step.',
});

const flowRun = z.strictObject({
  flow_run_id: z.guid(),
  flow_id: z.guid(),
  version: count.meta({ description: '0 is the draft, as it was when the run began.' }),
  mode: z.enum(RUN_MODES),
  status: z.enum(RUN_STATUSES),
  error: z
    .strictObject({ code: z.string(), message: z.string(), step_id: z.string().nullable(), iterations })
    .nullable(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  cost: z.number().meta({ description: 'Credits, so far.' }),
  message: z.string(),
  parameters: parsedJson,
  answer: parsedJson.meta({ description: 'The output of the last step; null when the run has none.' }),
  test: z
    .strictObject({
      test_run_id: z.guid(),
      test_case_id: z.guid(),
      name: z.string(),
      status: testStatus,
      why: z.string().nullable(),
    })
    .nullable(),
  blocks,
  left_out: leftOut,
});

export const runTraceInput = z.strictObject({
  flow_run_id: z
    .guid()
    .meta({ description: 'flow_run_id or executionId of a run, or test_run_id for all its cases.' }),
});
export const runTrace = z.strictObject({ flow_run: flowRun.optional(), test_run: testRun.optional() });

export const stepTraceInput = z.strictObject({
  flow_run_id: z.guid().meta({ description: 'flow_run_id or executionId of a run.' }),
  step_id: z.string().meta({ description: 'step_id from get_test_run_trace or get_flow.' }),
});
export const stepTrace = z.strictObject({
  flow_run_id: z.guid(),
  step_id: z.string(),
  executions: blocks.meta({
    description:
      'The block executions of the step, or of the blocks inside it; empty when it was not executed.',
  }),
  left_out: leftOut,
});

/**
 * Traces a run with its values cut, or describes the cases of a test run. Throws REQUEST_TIMEOUT when its caller has
 * `gone`.
 */
export async function traceRun(
  deps: ApiDeps,
  access: ProjectAccess,
  { flow_run_id: id }: z.output<typeof runTraceInput>,
  gone?: AbortSignal,
): Promise<z.input<typeof runTrace>> {
  const testRunRow = await findTestRun(deps.db, id);
  if (testRunRow) {
    const flow = await requireVisibleFlow(deps, testRunRow.flow_id, access, 'run');
    return { test_run: await describeTestRun(deps, id, flow, { gone }) };
  }
  return withReservedTrace(deps, { access, id, gone }, async (run) => ({
    flow_run: await describeRunWithTrace(deps, run),
  }));
}

async function describeRunWithTrace(deps: ApiDeps, run: RunRow): Promise<z.input<typeof flowRun>> {
  const id = run.execution_id;
  const [rows, test] = await Promise.all([listBlockTraces(deps.db, id), findTestOfRun(deps.db, id)]);
  const { message, parameters } = await getRunInput(deps.db, id);
  return {
    flow_run_id: id,
    flow_id: run.flow_id,
    version: run.version,
    mode: run.mode,
    status: run.status,
    error: run.error && {
      code: run.error.code,
      message: run.error.message,
      step_id: run.error.step_id ?? null,
      ...(run.error.iterations && { iterations: run.error.iterations }),
    },
    started_at: run.started_at.toISOString(),
    finished_at: run.finished_at?.toISOString() ?? null,
    cost: run.cost_microcredits / MICROCREDITS_PER_CREDIT,
    message: cutText(message, VALUE_MAX_CHARS),
    parameters: cutJson(parameters, VALUE_MAX_CHARS),
    answer: await readAnswer(deps, run),
    test: test
      ? {
          test_run_id: test.test_run_id,
          test_case_id: test.test_case_id,
          name: test.name,
          status: test.status,
          why: test.why,
        }
      : null,
    ...(await traceBlocks(deps, rows, VALUE_MAX_CHARS)),
  };
}

/**
 * Lists the block executions of one step, with longer values than the trace of the run. Throws as `traceRun` does.
 */
export async function traceStep(
  deps: ApiDeps,
  access: ProjectAccess,
  { flow_run_id: id, step_id }: z.output<typeof stepTraceInput>,
  gone?: AbortSignal,
): Promise<z.input<typeof stepTrace>> {
  return withReservedTrace(deps, { access, id, gone }, async (run) => {
    const all = await listBlockTraces(deps.db, id);
    const blocksOf = await listBlocksOf(deps, step_id, [run, ...all]);
    const rows = all.filter((row) => blocksOf.get(row.flow_version_id)?.has(row.step_id));
    const traced = await traceBlocks(deps, rows, STEP_VALUE_MAX_CHARS);
    return { flow_run_id: id, step_id, executions: traced.blocks, left_out: traced.left_out };
  });
}

/** Lists the blocks of a step for each version that a run used. Throws NOT_FOUND when no version has the step. */
async function listBlocksOf(
  { definitions }: ApiDeps,
  stepId: string,
  ran: { flow_version_id: string }[],
): Promise<Map<string, Set<string>>> {
  const blocksOf = new Map<string, Set<string>>();
  const known = new Set<string>();
  for (const version of new Set(ran.map((row) => row.flow_version_id)))
    for (const { step } of eachStep(await definitions.get(version))) {
      known.add(step.step_id);
      if (step.step_id !== stepId) continue;
      blocksOf.set(version, new Set(listBlocks({ steps: [step] }).map((block) => block.step_id)));
    }
  const named = [...known].slice(0, FLOW_STEPS_MAX).join(', ');
  if (!known.has(stepId))
    throw new ServiceError(
      'NOT_FOUND',
      `The flow of this run has no step ${JSON.stringify(stepId.slice(0, 100))}. It has: ${named}.`,
    );
  return blocksOf;
}

/** Runs work over a run that the caller may see, after reserving memory for its trace. */
async function withReservedTrace<T>(
  deps: ApiDeps,
  { access, id, gone }: { access: ProjectAccess; id: string; gone: AbortSignal | undefined },
  work: (run: RunRow) => Promise<T>,
): Promise<T> {
  const { run, organizationId } = await requireRun(deps, access, id);
  using _permit = await reserveBytes(
    deps.gates.answers,
    organizationId,
    await measureTrace(deps.db, id),
    gone,
  );
  return await work(run);
}

async function requireRun(deps: ApiDeps, access: ProjectAccess, id: string) {
  const { db } = deps;
  const ofRun = await findFlowOfRun(db, id);
  const flowId = ofRun ?? (await findTestOfRun(db, id))?.flow_id;
  const { organizationId } = await requireVisibleFlow(deps, flowId, access, 'run');
  const run = flowId && (await findRun(db, flowId, id));
  if (!run) throw new ServiceError('CONFLICT', 'This run has not begun yet: try again in a moment.');
  return { run, organizationId };
}

async function readAnswer(deps: ApiDeps, run: RunRow): Promise<Json> {
  if (!run.result) return null;
  return cutJson(
    await readResult(deps.db, run.concluded_by ?? run.execution_id, run.result),
    VALUE_MAX_CHARS,
  );
}

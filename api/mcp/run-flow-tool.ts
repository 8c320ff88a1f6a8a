// run_flow
import { z } from 'zod';
import { findRun, type RunRow } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { listBlocks } from '../../flow/plan.ts';
import { addToLogContext } from '../../platform/observability/log.ts';
import { waitForRun } from '../../temporal/wait-for-run.ts';
import type { ApiDeps } from '../deps.ts';
import { parsedJson } from '../flows/written-flow.ts';
import type { LoadedFlow } from '../http/context.ts';
import { idempotencyKey } from '../http/idempotency-header.ts';
import { digestRequest } from '../http/idempotency-key.ts';
import { acceptIdempotently } from '../runs/calls/accept-idempotently.ts';
import { acceptRun } from '../runs/calls/accept-run.ts';
import { acquireForCaller, startAdmitted } from '../runs/calls/admit.ts';
import type { CallRequest } from '../runs/calls/call-request.ts';
import { loadRunnableFlow } from '../runs/calls/load-flow.ts';
import { PerhapsStored } from '../runs/calls/store-call.ts';
import { readCutResult } from '../runs/read-cut-result.ts';
import { runState } from '../runs/run-shapes/answers.ts';
import { BLOCK_STATUSES, readReceipt } from '../runs/run-shapes/block-answers.ts';
import { describeRun } from '../runs/run-shapes/describe-run.ts';
import { type JobRequest, maxCredits } from '../runs/run-shapes/requests.ts';
import { TOOL_WAIT_MS } from '../test-cases/run-tests.ts';
import { requireFlowDesign } from './flow-design.ts';
import { defineTool, flowId, type McpCall } from './tool.ts';

const { shape } = runState;

/** A run in tool responses. Its code is any text: every client would load a list of all codes with the tools. */
export const toolRun = z.strictObject({
  flow_run_id: z.string(),
  flow_id: z.string(),
  status: shape.status,
  outcome: shape.outcome,
  code: z.string().optional(),
  step_id: shape.step_id,
  iterations: shape.iterations,
  error_message: z.string().optional(),
  failure_reason: shape.failureReason,
  cancelled_by: shape.cancelledBy,
  cancelled_at: z.string().optional(),
  version: shape.version,
  mode: shape.mode,
  environment: shape.environment,
  started_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.int().nullable(),
  cost: shape.cost,
});

type DescribedRun = Awaited<ReturnType<typeof describeRun>>;

const ANSWER_MAX_CHARS = 20_000;
/** Maximum number of block executions in a receipt. */
const BLOCKS_MAX = 60;

const count = z.int().min(0);
const blockReceipt = z.strictObject({
  step_id: z.string(),
  key: z.string(),
  status: z.enum(BLOCK_STATUSES),
  model: z.string().nullable(),
  prompt_tokens: count.nullable(),
  cached_tokens: count,
  cache_write_tokens: count,
  completion_tokens: count.nullable(),
  reasoning_tokens: count,
  cost: z.number(),
  ms: count,
});

export const runFlowTool = defineTool({
  name: 'run_flow',
  title: 'Run a published flow',
  description:
    'Runs a published version of a flow at its usual cost; answers the result and what each block cost, or after 45 s how the run stands. Blocks run without tools, which callers bring. run_test_case runs the draft.',
  scope: 'flows:run',
  hints: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  input: z.strictObject({
    flow_id: flowId,
    message: z.string(),
    parameters: z.record(z.string(), parsedJson).optional(),
    version: z.int().min(1).optional().meta({ description: 'The production version when absent.' }),
    max_credits: maxCredits.meta({ description: 'Maximum cost in credits.' }),
    idempotency_key: idempotencyKey.meta({
      description: 'Calls with the same key get one run, for 24 hours.',
    }),
  }),
  output: z.strictObject({
    flow_run: toolRun,
    answer: parsedJson.meta({ description: 'The result; null when there is none.' }),
    blocks: z.array(blockReceipt),
    left_out: count.meta({ description: 'Block executions that are not listed.' }),
    notes: z.array(z.string()),
  }),
  async run(call, { flow_id, message, parameters = {}, version, max_credits, idempotency_key: key }) {
    // Includes the time in the queue.
    const over = AbortSignal.timeout(TOOL_WAIT_MS);
    const design = await requireFlowDesign(call, flow_id);
    const slugs = {
      organization: design.organization_slug,
      project: design.project_slug,
      flow: design.slug,
    };
    const asked = { ...slugs, within: call.access, version: version ?? ('production' as const) };
    const flow = await loadRunnableFlow(call.deps, asked, () => call.gone);
    if (!flow) throw notPublished(version);
    const { user } = call;
    const body = { message, parameters, ...(max_credits !== undefined && { maxCredits: max_credits }) };
    const { environment } = user;
    const digest = digestRequest(environment, 'run_flow', flow_id, version ?? null, body);
    const idempotencyKey =
      key === undefined ? undefined : { projectId: flow.projectId, endpoint: 'jobs' as const, key, digest };
    const caller = { environment, keyId: undefined, userId: user.userId };
    const ofRequest = { ...caller, idempotencyKey, modelKeys: undefined };
    const request = {
      slugs,
      pinned: version !== undefined,
      flow,
      author: call.author,
      requestId: call.author.requestId,
      body,
      ...ofRequest,
    };
    addToLogContext({ organization_id: flow.organizationId });
    const { release } = call.deps.openRequests.call(flow.organizationId);
    call.releaseRequest();
    return runToEnd(call, request, over).finally(release);
  },
});

function notPublished(version: number | undefined): ServiceError {
  return version === undefined
    ? new ServiceError(
        'CONFLICT',
        'The flow has no production version: use publish_version, then set_production_version.',
      )
    : new ServiceError('NOT_FOUND', `The flow has no version ${version}: get_flow lists its versions.`);
}

/** Runs the flow and describes its end, or its present state when `over` aborts. */
async function runToEnd(call: McpCall, request: CallRequest<JobRequest>, over: AbortSignal) {
  const { deps, goneOrStopping: gone, user } = call;
  const { flow } = request;
  const permit = await acquireForCaller(deps, { principal: user, flow }, { signal: gone });
  const run = await acceptIdempotently(deps, request, (asked) => acceptRun(deps, asked, 'jobs')).catch(
    (error: unknown) => {
      permit.release();
      throw error;
    },
  );
  const { executionId } = run;
  if (run.outcome) {
    permit.release();
    return describeStored(deps, request.flow, executionId);
  }
  const started = startAdmitted(deps, run, permit);
  started.catch(() => undefined);
  const waited = waitForRun(deps, run, started, AbortSignal.any([over, gone]));
  // The run is stored: the reconciler starts it when Temporal is back.
  await waited.catch(() => undefined);
  return describeStored(deps, request.flow, executionId);
}

/**
 * Describes the run's present state. Throws PerhapsStored when the state cannot be read, so that the caller knows
 * about the run.
 */
function describeStored(deps: ApiDeps, flow: LoadedFlow, executionId: string) {
  return describeRunWithAnswer(deps, flow, executionId).catch((error: unknown) => {
    throw new PerhapsStored(executionId, error);
  });
}

async function describeRunWithAnswer(
  deps: ApiDeps,
  { organizationId, flowId, definition }: LoadedFlow,
  executionId: string,
) {
  const row = (await findRun(deps.db, flowId, executionId)) as RunRow;
  const { result } = row;
  const { blocks, notes = [] } = await readReceipt(deps, executionId);
  const toolSteps = listBlocks(definition).filter(({ processor_config }) => processor_config?.tools_enabled);
  return {
    flow_run: await describeToolRun(deps, row),
    answer:
      result &&
      (await readCutResult(deps, { organizationId, callId: executionId, result }, ANSWER_MAX_CHARS)),
    blocks: blocks.slice(0, BLOCKS_MAX).map(({ step_id, key, status, model, usage }) => ({
      step_id,
      key,
      status,
      model,
      prompt_tokens: usage.promptTokens,
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      completion_tokens: usage.completionTokens,
      reasoning_tokens: usage.reasoningTokens,
      cost: usage.cost,
      ms: usage.ms,
    })),
    left_out: Math.max(0, blocks.length - BLOCKS_MAX),
    notes: [
      ...notes,
      ...(row.status === 'started'
        ? ['The run continues: get_test_run_trace shows its progress, cancel_run stops it.']
        : []),
      ...toolSteps.map(
        ({ step_id }) => `${step_id} ran without tools: callers bring them to /execute or /step.`,
      ),
    ],
  };
}

/** Renames the fields of a described run for tools. */
export function toToolRun({
  executionId,
  flowId,
  blockCount: _,
  keyId: _keyId,
  startedBy: _startedBy,
  repeats: _repeats,
  repeatedBy: _repeatedBy,
  bulk_id: _bulkId,
  startedAt,
  finishedAt,
  durationMs,
  cancelledBy,
  cancelledAt,
  ...run
}: DescribedRun): z.input<typeof toolRun> {
  const { errorMessage, failureReason, ...others } = run as typeof run & {
    errorMessage?: string;
    failureReason?: 'error' | 'credits_exhausted' | 'byok_rejected';
  };
  return {
    flow_run_id: executionId,
    flow_id: flowId,
    ...others,
    ...(errorMessage !== undefined && { error_message: errorMessage }),
    ...(failureReason !== undefined && { failure_reason: failureReason }),
    ...(cancelledAt !== undefined && { cancelled_by: cancelledBy, cancelled_at: cancelledAt }),
    started_at: startedAt,
    finished_at: finishedAt,
    duration_ms: durationMs,
  };
}

/** Describes a run, without its result and blocks. */
export async function describeToolRun(
  deps: Parameters<typeof describeRun>[0],
  run: Pick<RunRow, keyof Parameters<typeof describeRun>[1]>,
): Promise<z.input<typeof toolRun>> {
  return toToolRun(await describeRun(deps, run));
}

// Descriptions of ended and paused runs for callers (docs/run-and-wait.md, Failed runs).
import { accumulateOutputs } from '../../../db/runs/accumulate-outputs.ts';
import { loadBlockOutput } from '../../../db/runs/block-runs.ts';
import { readResultText } from '../../../db/stored-values/load-references.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import type { CallIds, RunOutcome } from '../../../flow/run.ts';
import type { AssistantMessage, PausePoint, ToolCallMessage } from '../../../flow/tool-calls.ts';
import type { Permit } from '../../../platform/limits/fair-queue.ts';
import type { ApiDeps } from '../../deps.ts';
import type { ApiContext } from '../../http/context.ts';
import { JsonText } from '../../http/write-json.ts';
import { describeRunError, traceIdField } from '../run-shapes/describe-run.ts';
import { startAdmitted, takePermit } from './admit.ts';
import { signState } from './resume-state.ts';
import type { AcceptedCall } from './store-call.ts';

/** The call that ended or paused a run, with everything that describing it needs. */
type EndedCall = CallIds & {
  from: number | null;
  flowVersionId: string;
  definition: FlowDefinition;
};

/** Returns the fields that describe how a run ended or paused, including `status`, for `writeJson`. */
export async function describeOutcome(deps: ApiDeps, run: EndedCall, outcome: RunOutcome) {
  const { status } = outcome;
  switch (status) {
    case 'completed':
      return { status, result: new JsonText(await readResultText(deps.db, run.callId, outcome.result)) };
    case 'failed':
      return { status, result: null, ...describeRunError(outcome.error) };
    case 'tool_calls_required':
      return { status, ...(await describePause(deps, run, outcome.pause)) };
  }
}

/** Returns the fields of a pause, for the caller to answer and to echo. */
export async function describePause({ config, db }: ApiDeps, run: EndedCall, pause: PausePoint) {
  const { executionId, callId, flowVersionId } = run;
  const { step_id, iterations } = pause;
  const [{ output, finishedAt }, accumulatedOutputs] = await Promise.all([
    loadBlockOutput(db, callId, step_id),
    accumulateOutputs(db, run, step_id),
  ]);
  const messages = output as ToolCallMessage[];
  const state = { executionId, flowVersionId, step_id, iterations, messages, outputs: accumulatedOutputs };
  return {
    pausedAtStep: step_id,
    iterationsUsed: iterations,
    toolCallMessages: messages,
    toolCalls: (messages.at(-1) as AssistantMessage).tool_calls,
    accumulatedOutputs,
    resumeState: await signState(config.apiKeyPepper, state, finishedAt),
  };
}

/** Starts an accepted job and answers 202. Answers the same for a repeated request. */
export async function answerJob(deps: ApiDeps, ctx: ApiContext, job: AcceptedCall): Promise<void> {
  if (!job.outcome) await startSoon(deps, job, takePermit(ctx.state));
  answerAccepted(ctx, job);
}

export function answerAccepted(ctx: ApiContext, job: AcceptedCall): void {
  const { executionId, flowId, blockCount } = job;
  ctx.status = 202;
  ctx.body = { executionId, status: 'started', flowId, blockCount, ...traceIdField(job.trace) };
}

/** Starts an accepted run as `startAdmitted` does. If its workflow cannot start now, the reconciler starts it. */
export async function startSoon(deps: ApiDeps, run: AcceptedCall, permit: Permit | undefined): Promise<void> {
  await startAdmitted(deps, run, permit).catch(() => undefined);
}

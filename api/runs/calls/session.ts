// The session of a /step call, and the data that the call reads from it.
import { findRun, getRunInput, type RunRow } from '../../../db/runs/runs.ts';
import { measurePause } from '../../../db/stored-values/load-references.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import type { StoredRunInput } from '../../../db/tables/run-input.ts';
import { DRAFT_VERSION, type FlowDefinition, type Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { UUID_PATTERN } from '../../../flow/limits.ts';
import type { PausePoint } from '../../../flow/tool-calls.ts';
import { linkToTrace } from '../../../platform/observability/tracing.ts';
import type { ApiDeps } from '../../deps.ts';
import type { LoadedFlow } from '../../http/context.ts';
import type { StepRequest } from '../run-shapes/step-requests.ts';
import { findAcceptedCall } from './accept-idempotently.ts';
import type { CallRequest } from './call-request.ts';
import { describePause } from './describe-outcome.ts';

type Outputs = { [stepId: string]: Json };

/** Returns the bytes that the functions below read. */
export async function measureSession({ db }: ApiDeps, session: RunRow, body: StepRequest): Promise<number> {
  const input = await measureInput(db, session.execution_id);
  if (!pauseToRead(session, body) || !session.concluded_by) return input;
  return input + (await measurePause(db, session.concluded_by));
}

/** Returns the outputs of the earlier steps: from the request or, when a resume omits them, from its pause. */
export async function readOutputs(
  deps: ApiDeps,
  session: RunRow | undefined,
  { body }: CallRequest<StepRequest>,
): Promise<Outputs | undefined> {
  const pause = session && pauseToRead(session, body);
  if (!pause) return body.accumulatedOutputs as Outputs | undefined;
  const call = session?.concluded_by ? await findAcceptedCall(deps, session.concluded_by) : undefined;
  return call && (await describePause(deps, call, pause)).accumulatedOutputs;
}

/**
 * Removes outputs of blocks inside steps, which clients that keep every block_completed send: no later step reads
 * them, and a pause has no room for them.
 */
export function ofSteps({ steps }: FlowDefinition, outputs: Outputs | undefined): Outputs | undefined {
  if (!outputs) return undefined;
  const carried = new Set(steps.map(({ step_id }) => step_id));
  return Object.fromEntries(Object.entries(outputs).filter(([stepId]) => carried.has(stepId)));
}

/**
 * Returns the parts of the session's input that later calls inherit: all but overrides, pinned outputs and tools. The
 * first call sets the message and the parameters; a later call of step 0 sets the message.
 */
export async function readInput(
  { db }: ApiDeps,
  session: RunRow | undefined,
  body: StepRequest,
): Promise<Omit<StoredRunInput, 'block_overrides' | 'pinned_outputs'>> {
  const { stepIndex, message, parameters = {} } = body;
  if (!session) return { message: message ?? '', parameters: parameters as { [key: string]: Json } };
  const { block_overrides, pinned_outputs, tools, tool_choice, ...kept } = await getRunInput(
    db,
    session.execution_id,
  );
  return stepIndex === 0 && message !== undefined && body.toolCallMessages === undefined
    ? { ...kept, message }
    : kept;
}

/** Returns the pause whose outputs a resume omits. */
function pauseToRead(
  session: RunRow,
  { toolCallMessages, accumulatedOutputs }: StepRequest,
): PausePoint | undefined {
  return toolCallMessages && !accumulatedOutputs ? (session.pause ?? undefined) : undefined;
}

/** Gets a session of a flow, or of its draft. Throws RUN_NOT_FOUND, or CONFLICT when the session was cancelled. */
export async function getSession(
  { db }: ApiDeps,
  flow: Pick<LoadedFlow, 'flowId' | 'version'>,
  executionId: string,
): Promise<RunRow> {
  const run = UUID_PATTERN.test(executionId) ? await findRun(db, flow.flowId, executionId) : undefined;
  if (run?.mode !== 'step' || !isOfSameKind(run, flow)) throw sessionNotFound();
  if (run.cancel_requested_at) throw sessionCancelled();
  linkToTrace(run.trace_context);
  return run;
}

/** Whether a call of `flow` may continue `run`: draft runs continue as drafts, other runs with versions. */
export function isOfSameKind(run: { version: number }, flow: { version: number }): boolean {
  return (run.version === DRAFT_VERSION) === (flow.version === DRAFT_VERSION);
}

export function sessionNotFound(): ServiceError {
  return new ServiceError('RUN_NOT_FOUND', 'This flow has no session with that executionId.');
}

export function sessionCancelled(): ServiceError {
  return new ServiceError('CONFLICT', 'The session was cancelled: start a new one, or fork it.');
}

// The outputs that a fork carries: the latest of each step, as far as they fit into a request of /step.
import type { Db } from '../../../db/connect.ts';
import { listCalls } from '../../../db/runs/list-calls.ts';
import { getRunInput } from '../../../db/runs/runs.ts';
import { findBroughtOutputs } from '../../../db/stored-values/find-brought-outputs.ts';
import { measureOutputs, readResult, referenceLoader } from '../../../db/stored-values/load-references.ts';
import { measureInput } from '../../../db/stored-values/stored-inputs.ts';
import { type ComposedValues, composeValues } from '../../../flow/compose-outputs.ts';
import type { Json, Step } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { listStepsRead } from '../../../flow/list-steps-read.ts';
import { applyOverride, type BlockOverrides, overrideOf } from '../../../flow/overrides.ts';
import { listBlocks, type PlannedStep, toPlan } from '../../../flow/plan.ts';
import { INPUT_REF, isLeaf, MESSAGE_REF, type Value } from '../../../flow/value.ts';
import { weigh } from '../../../platform/json-text/measure-json.ts';
import { BODY_MAX_BYTES } from '../../http/receive-body.ts';
import { invalidField } from '../../http/request-errors.ts';

type ForkedRun = { execution_id: string; version: number };

/**
 * The calls of a run to search for outputs, newest first. `brought`: the steps whose outputs the caller sent; null if only
 * the stored input lists them. `bytes`: the size of the input. `isAll`: whether the run has no other calls.
 */
type Calls = {
  calls: (Awaited<ReturnType<typeof listCalls>>[number] & { bytes: number; brought: string[] | null })[];
  isAll: boolean;
};
/** The location of a step's latest output. `value`: the call produced the output; absent: the caller sent it. */
type Source = { callId: string; value?: Value | undefined };

/** Finds the calls of a run that may have outputs of these steps. */
export async function findCalls(db: Db, executionId: string, steps: PlannedStep[]): Promise<Calls> {
  const all = steps.length === 0 ? [] : await listCalls(db, executionId);
  const ids = all.map(({ callId }) => callId);
  const stepIds = steps.map(({ step_id }) => step_id);
  const found = await findBroughtOutputs(db, ids, stepIds);
  const calls = all.flatMap((call) => {
    const brought = found.get(call.callId);
    return brought ? [{ ...call, ...brought }] : [];
  });
  return { calls, isAll: calls.length === all.length };
}

/**
 * Returns the maximum memory for collecting outputs: the outputs that fit into a request, and the input of one call.
 */
export async function measureCollected(db: Db, { calls }: Calls): Promise<number> {
  if (calls.length === 0) return 0;
  const ids = calls.map(({ callId }) => callId);
  const read = calls.filter(({ brought }) => brought === null || brought.length > 0);
  const input = Math.max(0, ...read.map(({ bytes }) => bytes));
  return Math.min(await measureOutputs(db, ids), BODY_MAX_BYTES) + input;
}

/**
 * Collects the latest output of each of the steps from the calls of a run; a caller may have sent other outputs with
 * a call. When all together have more than `room` bytes by `measure`, the order is: the last step, then the outputs
 * that later blocks read (`read`), then the latest ones. Outputs that do not fit, or are in calls that are not
 * searched, are left out. Throws CONFLICT when the last step has no output, and BODY_TOO_LARGE when it does not fit.
 */
async function collectOutputs(
  db: Db,
  calls: Calls,
  steps: PlannedStep[],
  read: ReadonlySet<string>,
  room: number,
  measure: (json: string) => number,
): Promise<{ [stepId: string]: Json }> {
  const { sources, missing } = await findSources(db, calls, steps);
  const last = steps.at(-1);
  if (last && !sources.has(last.step_id)) {
    if (!calls.isAll) throw tooFarBack(last.step_id);
    const absent = steps.find(({ step_id }) => !sources.has(step_id)) ?? last;
    throw notCompleted(
      absent.step_id,
      missing?.step_id === absent.step_id ? missing.message : 'it was not run',
    );
  }
  const outputs = new Map<string, Json>();
  const others = steps.slice(0, -1).toReversed();
  const isRead = ({ step_id }: PlannedStep) => read.has(step_id);
  const inOrder = [...others.filter(isRead), ...others.filter((step) => !isRead(step))];
  let bytes = 0;
  let leftOut = false;
  let brought: { callId: string; outputs: { [stepId: string]: Json } } | undefined;
  for (const { step_id } of last ? [last, ...inOrder] : []) {
    const source = sources.get(step_id);
    if (!source) continue;
    const { callId, value } = source;
    // After the first output that did not fit, others are measured before they are loaded.
    if (leftOut && value && isLeaf(value))
      if (bytes + (await measureOutputs(db, callId, [step_id])) > room) continue;
    if (!value && brought?.callId !== callId) {
      const { continuation } = await getRunInput(db, callId);
      brought = { callId, outputs: continuation?.outputs ?? {} };
    }
    const output = value ? await readResult(db, callId, value) : (brought?.outputs[step_id] as Json);
    const size = measure(JSON.stringify({ [step_id]: output }));
    if (bytes + size > room) {
      if (outputs.size === 0) throw tooLarge(step_id);
      leftOut = true;
      continue;
    }
    bytes += size;
    outputs.set(step_id, output);
  }
  const carried = steps.filter(({ step_id }) => outputs.has(step_id));
  return Object.fromEntries(carried.map(({ step_id }) => [step_id, outputs.get(step_id) as Json]));
}

/** Counts the steps up to the last one whose output a call of the run made or its caller sent. */
export async function countCompletedSteps(db: Db, calls: Calls, steps: PlannedStep[]): Promise<number> {
  const { sources } = await findSources(db, calls, steps);
  return steps.findLastIndex(({ step_id }) => sources.has(step_id)) + 1;
}

/** Finds the latest output of each step without loading it, so that no more are loaded than are carried. */
async function findSources(
  db: Db,
  calls: Calls,
  steps: PlannedStep[],
): Promise<{ sources: Map<string, Source>; missing: ComposedValues['missing'] }> {
  const sources = new Map<string, Source>();
  let missing: ComposedValues['missing'];
  for (const { callId, from, to, completed, brought } of calls.calls) {
    if (steps.every(({ step_id }) => sources.has(step_id))) break;
    const ofCaller = brought ?? Object.keys((await getRunInput(db, callId)).continuation?.outputs ?? {});
    const composed = await composeValues(
      steps.slice(from, to),
      new Set(completed),
      referenceLoader(db, callId),
      { ref: from > 0 ? INPUT_REF : MESSAGE_REF },
    );
    for (const { step_id } of steps) {
      const value = composed.values.get(step_id);
      if (!sources.has(step_id) && (value || ofCaller.includes(step_id)))
        sources.set(step_id, { callId, value });
    }
    missing ??= composed.missing;
  }
  return { sources, missing };
}

/** The error for a fork whose run has no output of an earlier step. */
export function notCompleted(stepId: string, reason: string): ServiceError {
  const message = `The run has not completed the earlier step ${stepId}: ${reason}.`;
  return new ServiceError('CONFLICT', message, { step_id: stepId });
}

/** The error for a fork whose run has too many or too large calls to search for the output of the previous step. */
function tooFarBack(stepId: string): ServiceError {
  const message = `The last calls of this run have no output of the step ${stepId}, and are so large that earlier ones are not looked through: fork it at an earlier step, or begin a new session.`;
  return new ServiceError('CONFLICT', message, { step_id: stepId });
}

/** The error for a fork or retry that cannot carry a required output. */
export function tooLarge(stepId: string): ServiceError {
  const message = `The output of ${stepId} does not fit into one request with the input of the run and the other outputs it needs.`;
  return new ServiceError('BODY_TOO_LARGE', message, { step_id: stepId });
}

/**
 * Makes the request that starts a /step session at `step` of a stored run, for GET …/fork. `steps`: those of the flow, of
 * which the run has the ones before `step`. `reserve` is called with
 * the size of the run's input and outputs before they are read. `measure` returns the size of
 * JSON. Throws a ServiceError when the run cannot be forked there.
 */
export async function forkCursor(
  { db }: { db: Db },
  run: ForkedRun,
  steps: Step[],
  step: number,
  reserve: (bytes: number) => Promise<void>,
  measure: (json: string) => number = weigh,
) {
  const plan = toPlan(steps);
  if (step >= plan.length) throw outOfRange(plan.length);
  const before = plan.slice(0, step);
  const calls = await findCalls(db, run.execution_id, before);
  const ofInput = await measureInput(db, run.execution_id);
  await reserve(ofInput + (await measureCollected(db, calls)));
  const input = await getRunInput(db, run.execution_id);
  const { message, parameters, block_overrides, attachments, tools, tool_choice: toolChoice } = input;
  const cursor = {
    executionId: null,
    version: run.version,
    stepIndex: step,
    accumulatedOutputs: {},
    message,
    parameters,
    ...(Object.keys(block_overrides).length > 0 && { blockOverrides: block_overrides }),
    ...(attachments && { attachments }),
    ...(tools && { tools }),
    ...(toolChoice && { toolChoice }),
  };
  const room = BODY_MAX_BYTES - measure(JSON.stringify(cursor));
  const read = new Set(listOutputsRead(steps, block_overrides, step));
  const accumulatedOutputs = await collectOutputs(db, calls, before, read, room, measure);
  return { ...cursor, accumulatedOutputs };
}

function outOfRange(steps: number): ServiceError {
  const message =
    steps === 0 ? 'the flow has no steps' : `must be the index of a step, from 0 to ${steps - 1}`;
  return invalidField('step', message);
}

/** Lists the steps before the index `from` whose outputs later blocks may read; possibly more than they do read. */
export function listOutputsRead(steps: Step[], overrides: BlockOverrides, from: number): string[] {
  const earlier = steps.slice(0, from).map(({ step_id }) => step_id);
  const read = listBlocks({ steps: steps.slice(from) }).map((block) =>
    listStepsRead(applyOverride(block, overrideOf(overrides, block.step_id))),
  );
  if (read.includes('all')) return earlier;
  const named = new Set(read.flat());
  return earlier.filter((stepId) => named.has(stepId));
}

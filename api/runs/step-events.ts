// The events of one call of /step, made from stored records, so that they are the same on every request.

import { listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { lastSettled, listBlocksOfCall, listSmallOutputs } from '../../db/runs/recorded-blocks.ts';
import {
  measureOutputs,
  measurePause,
  measureValue,
  readResultText,
  referenceLoader,
} from '../../db/stored-values/load-references.ts';
import { composeValues, type Facts } from '../../flow/compose-outputs.ts';
import type { Step } from '../../flow/definition.ts';
import { iterationsOf, listBlocks, toPlan } from '../../flow/plan.ts';
import type { CallIds, RunOutcome } from '../../flow/run.ts';
import { INPUT_REF, MESSAGE_REF, type Value } from '../../flow/value.ts';
import type { Permit } from '../../platform/limits/fair-queue.ts';
import type { ApiDeps } from '../deps.ts';
import { createHeartbeat, type HEARTBEAT, HEARTBEAT_MS, StreamInterruption } from '../http/event-stream.ts';
import { JsonText } from '../http/write-json.ts';
import { describePause } from './calls/describe-outcome.ts';
import { firstCallOf } from './calls/find-earlier-resume.ts';
import { describePlan } from './calls/require-fresh-tree.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import { toReceipt } from './run-shapes/block-answers.ts';
import { type BlockUpdate, createBlockEvents, describeBlockUpdate } from './run-shapes/block-under-way.ts';
import { describeRunError } from './run-shapes/describe-run.ts';
import type { Updates } from './updates.ts';

/**
 * Longer outputs are left out. A client that merges all outputs by stepId echoes up to 200 of them besides the
 * outputs of steps, and both fit into a request.
 */
export const INNER_OUTPUT_MAX_BYTES = 16 * 1024;

/** Outputs that are loaded at once. */
const AT_ONCE = 64;

type InnerEvent = { name: string; data: object; isInner: true };

type BlockRuns = Awaited<ReturnType<typeof listBlocksOfCall>>;

export type StepEvent = { name: string; data: object } | InnerEvent | typeof HEARTBEAT;

/** The client of the events. `reserve` acquires a permit for the bytes of an event. */
type Reader = {
  organizationId: string;
  mayRead(): Promise<boolean>;
  reserve(bytes: number): Promise<Permit>;
  signal: AbortSignal;
};

type EventPlace = { executionId: string; stepId: string; stepIndex: number };

/**
 * Yields the events. Throws StreamInterruption when the client's `signal` aborts, or when a heartbeat finds that the
 * client has lost access; the call continues.
 */
export async function* stepEvents(
  deps: ApiDeps,
  updates: Updates,
  run: AcceptedCall,
  ended: Promise<RunOutcome | undefined>,
  reader: Reader,
  heartbeatMs = HEARTBEAT_MS,
): AsyncGenerator<StepEvent> {
  const { executionId, definition, flowId, blockCount, version } = run;
  const { steps } = definition;
  const [from, to] = [run.from ?? 0, run.to ?? steps.length];
  if (run.callId === firstCallOf(executionId)) {
    const data = { executionId, flowId, blockCount, version, steps: describePlan(definition) };
    yield { name: 'run_started', data };
  }

  const plan = toPlan(steps);
  let value: Value = { ref: from > 0 ? INPUT_REF : MESSAGE_REF };
  let blocks: BlockRuns = [];
  let underWay = 0n;
  const call = watchEnd(ended, reader.signal);
  const heartbeat = createHeartbeat(reader.mayRead, heartbeatMs);
  const facts: Facts = new Map();

  for (const [offset, step] of steps.slice(from, to).entries()) {
    const stepIndex = from + offset;
    const place = { executionId, stepId: step.step_id, stepIndex };
    yield { name: 'block_started', data: { ...place, name: step.name, type: step.type } };
    // A loop reads its input.
    const inputBytes = step.type === 'sequential' ? 0 : await measureValue(deps.db, run.callId, value);
    const innerEvents = createInnerEvents(deps, run, step, place, reader.reserve);
    let seen = -1;
    for (;;) {
      // If the call had ended before this check, everything is recorded now.
      const end = call.outcome;
      blocks = await listBlocksOfCall(deps.db, run.callId);
      const completed = new Set(
        blocks.filter(({ status }) => status === 'completed').map((block) => block.block_key),
      );
      underWay = yield* innerEvents(blocks);
      // Composing reads the outputs, so it happens only after a new one.
      if (completed.size > seen && (yield* completedEvents(step, place, completed, inputBytes))) break;
      seen = completed.size;
      if (end) {
        yield* endOf(deps, run, reader, end, place, blocks);
        return;
      }
      yield* wait();
    }
    const next = { ...place, nextStepIndex: stepIndex + 1, stepCount: steps.length };
    if (stepIndex + 1 < to) yield { name: 'step_progress', data: next };
    else {
      // The client may send the next call only after this one has ended.
      while (!call.outcome) yield* wait();
      if (call.outcome.status === 'completed' && to < steps.length) yield { name: 'step_paused', data: next };
      else yield* endOf(deps, run, reader, call.outcome, place, blocks);
    }
  }

  /** Yields block_completed if the step has completed; returns whether it has. */
  async function* completedEvents(
    step: Step,
    place: EventPlace,
    completed: Set<string>,
    inputBytes: number,
  ): AsyncGenerator<StepEvent, boolean> {
    const ids = listBlocks({ steps: [step] }).map(({ step_id }) => step_id);
    const bytes = inputBytes + (await measureOutputs(deps.db, run.callId, ids));
    using _permit = await reader.reserve(bytes);
    const planned = plan.slice(place.stepIndex, place.stepIndex + 1);
    const load = referenceLoader(deps.db, run.callId);
    const { values, missing } = await composeValues(planned, completed, load, value, facts);
    if (missing) return false;
    value = values.get(step.step_id) ?? value;
    const own = blocks.filter(({ step_id }) => ids.includes(step_id));
    const output = new JsonText(await readResultText(deps.db, run.callId, value));
    yield { name: 'block_completed', data: { ...place, output, ...toReceipt(deps, own) } };
    return true;
  }

  /** Waits for an update, and yields a heartbeat when one is due. */
  async function* wait(): AsyncGenerator<StepEvent, void> {
    const followed = {
      organizationId: reader.organizationId,
      executionId: run.callId,
      after: lastSettled(blocks),
      underWay,
      known: blocks.length,
    };
    await updates.wait(followed, heartbeat.dueInMs(), call.over);
    if (call.failure) throw call.failure.error;
    if (reader.signal.aborted) throw new StreamInterruption('stopping');
    if (!call.outcome) yield* heartbeat.beat();
  }
}

/** Watches for the end of a call. `over` aborts at the end or when `signal` does. */
function watchEnd(ended: Promise<RunOutcome | undefined>, signal: AbortSignal) {
  const known = new AbortController();
  const call: { over: AbortSignal; outcome?: RunOutcome | undefined; failure?: { error: unknown } } = {
    over: AbortSignal.any([signal, known.signal]),
  };
  ended.then(
    (outcome) => {
      call.outcome = outcome;
      if (outcome) known.abort('ended');
    },
    (error: unknown) => {
      call.failure = { error };
      known.abort('failed');
    },
  );
  return call;
}

/** Yields the last event of the call: the run failed, paused or completed. */
async function* endOf(
  deps: ApiDeps,
  run: AcceptedCall,
  reader: Pick<Reader, 'reserve'>,
  end: RunOutcome,
  place: EventPlace,
  blocks: BlockRuns,
): AsyncGenerator<StepEvent> {
  const { executionId, flowId, blockCount } = run;
  const receipt = toReceipt(deps, blocks);
  if (end.status === 'failed') {
    const { step_id, ...error } = describeRunError(end.error);
    const at = step_id === undefined ? {} : { stepId: step_id };
    yield { name: 'run_failed', data: { executionId, status: 'failed', ...at, ...error, ...receipt } };
  } else if (end.status === 'tool_calls_required') {
    using _permit = await reader.reserve(await measurePause(deps.db, run.callId));
    const pause = await describePause(deps, run, end.pause);
    yield {
      name: 'step_paused_for_tool_calls',
      data: { runId: executionId, ...place, status: 'in_progress', ...pause, ...receipt },
    };
  } else {
    using _permit = await reader.reserve(await measureValue(deps.db, run.callId, end.result));
    const result = new JsonText(await readResultText(deps.db, run.callId, end.result));
    const session = { executionId, flowId, blockCount };
    yield { name: 'run_completed', data: { ...session, status: 'completed', result, ...receipt } };
  }
}

/**
 * Creates the events of the blocks inside a parallel or loop step: gets the recorded blocks of the call at each check,
 * and yields new events. They have no id, so a client that reconnects gets those of the current step again. Returns
 * the last settled `recorded` of the call's blocks in flight.
 */
function createInnerEvents(
  deps: Pick<ApiDeps, 'db' | 'registry'>,
  { executionId, callId }: CallIds,
  step: Step,
  { stepIndex }: { stepIndex: number },
  reserve: Reader['reserve'],
): (blocks: BlockRuns) => AsyncGenerator<InnerEvent, bigint> {
  const { db } = deps;
  const branchesOf = new Map(listPlaces(step, []));
  const blockEvents = createBlockEvents();
  const ended = new Set<string>();
  const isInner = step.type !== 'sequential';
  let looks = 0;

  const format = (update: BlockUpdate): InnerEvent => {
    const { step_id, ...block } = describeBlockUpdate(update);
    return innerEvent(update.name, step_id, { type: 'sequential', ...block });
  };

  function innerEvent(name: string, stepId: string, data: object): InnerEvent {
    const branches = branchesOf.get(stepId) ?? [];
    const place = { executionId, stepId, stepIndex, ...(branches.length > 0 && { branches }) };
    return { name, data: { ...place, ...data }, isInner: true };
  }

  async function* endEvents(blocks: BlockRuns): AsyncGenerator<InnerEvent> {
    using _permit = await reserve(blocks.length * INNER_OUTPUT_MAX_BYTES);
    const keys = blocks.map(({ block_key }) => block_key);
    const outputs = await listSmallOutputs(db, callId, keys, INNER_OUTPUT_MAX_BYTES);
    for (const block of blocks) {
      for (const update of blockEvents.end(block)) yield format(update);
      const output = outputs.get(block.block_key);
      if (!output) continue;
      const { text, bytes } = output;
      const iterations = iterationsOf(block.block_key);
      yield innerEvent('block_completed', block.step_id, {
        key: block.block_key,
        ...(iterations.length > 0 && { iterations }),
        output: text === null ? null : new JsonText(text),
        ...(text === null && { outputBytes: bytes }),
        ...toReceipt(deps, [block]),
      });
    }
  }

  return async function* innerEvents(blocks) {
    looks += 1;
    const added = isInner
      ? blocks.filter(({ step_id, block_key }) => branchesOf.has(step_id) && !ended.has(block_key))
      : [];
    for (const { block_key } of added) ended.add(block_key);
    for (let from = 0; from < added.length; from += AT_ONCE)
      yield* endEvents(added.slice(from, from + AT_ONCE));
    // Short steps skip the query.
    if (looks === 1) return 0n;
    const underWay = (await listBlocksUnderWay(db, executionId)).filter((row) => row.execution_id === callId);
    const own = underWay.filter((row) => branchesOf.has(row.step_id) && !ended.has(row.block_key));
    for (const event of blockEvents.update(own))
      if (isInner || event.name === 'block_retrying') yield format(event);
    return lastSettled(underWay);
  };
}

/** Lists the blocks of a step, with the names of the branches around each, outermost first. */
function listPlaces(step: Step, branches: string[]): [string, string[]][] {
  if (step.type === 'sequential') return [[step.step_id, branches]];
  if (step.type === 'loop') return step.body.flatMap((inner) => listPlaces(inner, branches));
  return Object.entries(step.branches).flatMap(([name, inner]) =>
    inner.flatMap((each) => listPlaces(each, [...branches, name])),
  );
}

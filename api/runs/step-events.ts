// The events of one call of /step, made from stored records, so that they are the same on every request.
import { lastSettled, listBlocksOfCall } from '../../db/runs/list-recorded-blocks.ts';
import { leaveForObjects } from '../../db/stored-values/leave-for-objects.ts';
import { loadReferences, measureOutputs, measureValue } from '../../db/stored-values/load-references.ts';
import { measurePause } from '../../db/stored-values/measure-outcome.ts';
import { readResultText } from '../../db/stored-values/read-result.ts';
import { composeValues } from '../../flow/compose-values.ts';
import type { Step } from '../../flow/definition.ts';
import type { Facts } from '../../flow/look-up-facts.ts';
import { listBlocks, toPlan } from '../../flow/plan.ts';
import type { RunOutcome } from '../../flow/run.ts';
import { INPUT_REF, type Load, MESSAGE_REF, type Value } from '../../flow/value.ts';
import type { TurnToLeave } from '../../platform/limits/turn-to-leave.ts';
import type { ApiDeps } from '../deps.ts';
import { createHeartbeat, type HEARTBEAT, HEARTBEAT_MS } from '../http/event-stream.ts';
import { StreamInterruption } from '../http/stream-interruption.ts';
import { JsonText } from '../http/write-json.ts';
import { firstCallOf } from './calls/derive-call-id.ts';
import { describePause } from './calls/describe-outcome.ts';
import { describePlan } from './calls/require-fresh-tree.ts';
import type { AcceptedCall } from './calls/store-call.ts';
import { type BlockRuns, createInnerEvents, type InnerEvent } from './inner-events.ts';
import type { Updates } from './news.ts';
import { describeRunError } from './run-shapes/describe-run-error.ts';
import { toReceipt } from './run-shapes/receipt.ts';

export type StepEvent = { name: string; data: object } | InnerEvent | typeof HEARTBEAT;

/**
 * The client of the events. `take` reserves memory for outputs; the returned function releases it. `takeWork`
 * acquires a permit to parse.
 */
type Reader = {
  organizationId: string;
  mayRead(): Promise<boolean>;
  take(bytes: number): Promise<() => void>;
  takeWork(bytes: number): Promise<TurnToLeave>;
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
    const innerEvents = createInnerEvents(deps, run, step, place, reader.take);
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
    const giveBack = await reader.take(bytes);
    const load: Load = async (refs) => {
      const { end, leave } = await reader.takeWork(bytes);
      return loadReferences(leaveForObjects(deps.db, leave), run.callId, refs).finally(end);
    };
    try {
      const planned = plan.slice(place.stepIndex, place.stepIndex + 1);
      const { values, missing } = await composeValues(planned, completed, load, value, facts);
      if (missing) return false;
      value = values.get(step.step_id) ?? value;
      const own = blocks.filter(({ step_id }) => ids.includes(step_id));
      const output = new JsonText(await readResultText(deps.db, run.callId, value));
      yield { name: 'block_completed', data: { ...place, output, ...toReceipt(own) } };
      return true;
    } finally {
      giveBack();
    }
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
  reader: Pick<Reader, 'take'>,
  end: RunOutcome,
  place: EventPlace,
  blocks: BlockRuns,
): AsyncGenerator<StepEvent> {
  const { executionId, flowId, blockCount } = run;
  const receipt = toReceipt(blocks);
  if (end.status === 'failed') {
    const { step_id, ...error } = describeRunError(end.error);
    const at = step_id === undefined ? {} : { stepId: step_id };
    yield { name: 'run_failed', data: { executionId, status: 'failed', ...at, ...error, ...receipt } };
  } else if (end.status === 'tool_calls_required') {
    const giveBack = await reader.take(await measurePause(deps.db, run.callId));
    try {
      const pause = await describePause(deps, run, end.pause);
      yield {
        name: 'step_paused_for_tool_calls',
        data: { runId: executionId, ...place, status: 'in_progress', ...pause },
      };
    } finally {
      giveBack();
    }
  } else {
    const giveBack = await reader.take(await measureValue(deps.db, run.callId, end.result));
    try {
      const result = new JsonText(await readResultText(deps.db, run.callId, end.result));
      const session = { executionId, flowId, blockCount };
      yield { name: 'run_completed', data: { ...session, status: 'completed', result, ...receipt } };
    } finally {
      giveBack();
    }
  }
}

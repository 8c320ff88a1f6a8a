// The activities of llm blocks. A call begins inside the workflow task, as a local activity. A long call continues in its
// process, and a regular activity on the task queue of that process takes it over. Other retries and waits are regular
// activities of any worker.
import { hasStopped } from '../db/runs/run-cancellation.ts';
import type { ModelBlockCall } from '../flow/model-call.ts';
import type { Unfinished } from '../flow/ran-ahead.ts';
import { type BlockCall, BUSY, type Busy, isBusy } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { providerOf } from '../platform/models/registry.ts';
import { addToLogContext } from '../platform/observability/log.ts';
import type { ActivityDeps } from './activity-deps.ts';
import { keyOf, untilNotAnnounced } from './announcements.ts';
import { inSlot, turnAwayFrom } from './attempts/in-slot.ts';
import { ModelUnavailable } from './attempts/model-unavailable.ts';
import { NoRoom, orBusy } from './attempts/reserve-memory.ts';
import { type Attempt, runAttempt } from './attempts/run-attempt.ts';
import type { BlockExecution } from './block-execution.ts';
import type { BlockExecutor } from './block-executor.ts';
import { awaitEnd, concludeModelCall, seeThrough } from './conclude-model-call.ts';
import type { HeldModelCall, InTaskTimes } from './held-model-calls.ts';
import { createModelSpeeds } from './model/model-speeds.ts';
import { runModelBlock } from './run-model-block.ts';
import { showRefusal, showUnderWay } from './show-under-way.ts';

const IN_TASK_TIMES: InTaskTimes = { maxMs: 1_500, slowMs: 1_000 };

type Reply = Value | Unfinished;

/** Creates the function that runs an llm block, for workflow tasks and for the task queue that all workers share. */
export function createModelCaller(
  deps: ActivityDeps,
  blocks: BlockExecutor,
): (call: ModelBlockCall) => Promise<Reply> {
  const {
    heldModelCalls: held,
    modelTurns,
    slots,
    db,
    inProcessRuns,
    inTaskTimes: { maxMs, slowMs } = IN_TASK_TIMES,
  } = deps;
  const speeds = createModelSpeeds(slowMs);

  /** Makes the call. Returns BUSY if memory is short and the attempt may not wait. */
  async function make(execution: BlockExecution, attempt: Attempt): Promise<Value | Pause | Busy> {
    const { organizationId, awaited, block } = await blocks.find(execution, attempt);
    const { mayWait, signal } = attempt;
    return showUnderWay(db, blocks, execution, attempt, () =>
      runModelBlock(deps, blocks, execution, attempt, async (call) => {
        const provider = providerOf(block.model ?? '');
        const endTurn = mayWait
          ? await modelTurns.wait(provider, organizationId, signal, { patient: !awaited })
          : modelTurns.takeNow(provider, organizationId);
        if (!endTurn) throw new NoRoom();
        const began = performance.now();
        try {
          const reply = await call();
          speeds.note(organizationId, block.model ?? '', performance.now() - began);
          return reply;
        } finally {
          endTurn();
        }
      }),
    );
  }

  async function begin(execution: BlockExecution, attempt: Attempt): Promise<HeldModelCall | undefined> {
    const { organizationId, block } = await blocks.find(execution, attempt);
    const model = block.model ?? '';
    if (speeds.isSlow(organizationId, model) || modelTurns.isBusy(providerOf(model), organizationId))
      return undefined;
    return held.begin(keyOf(execution), organizationId, (own) => orBusy(own, () => make(execution, own)));
  }

  async function callInTask(execution: BlockExecution, attempt: Attempt): Promise<Reply> {
    const { signal } = attempt;
    const key = keyOf(execution);
    // A workflow task that was lost in between may find the call of the one before.
    const call = held.find(key) ?? (await begin(execution, attempt));
    if (!call) return BUSY;
    const ending = await awaitEnd(call, signal, maxMs);
    if (ending) {
      held.end(key);
      return concludeModelCall(call, ending, signal);
    }
    held.handOver(key, () => hasStopped(db, execution.callId));
    void noteSlow(execution).catch(() => undefined);
    return { ...BUSY, at: held.taskQueue };
  }

  async function noteSlow(execution: BlockExecution): Promise<void> {
    const { organizationId, block } = await blocks.find(execution, { mayWait: true });
    speeds.note(organizationId, block.model ?? '', maxMs);
  }

  /** Turns an activity away where its organization has many others waiting for the same provider: those for others need slots. */
  async function turnAwayFromCrowd(execution: BlockExecution, attempt: Attempt): Promise<void> {
    const { organizationId, block } = await blocks.find(execution, attempt);
    const provider = providerOf(block.model ?? '');
    if (modelTurns.isCrowded(provider, organizationId))
      throw turnAwayFrom(slots.models, `Many calls of the organization wait for ${provider} in this worker.`);
  }

  /** Makes the call as a regular activity, unless an attempt that the engine has taken for lost is still making it. */
  async function callAsActivity(execution: BlockExecution, attempt: Attempt): Promise<Reply> {
    const key = keyOf(execution);
    const isCancelled = () => hasStopped(db, execution.callId);
    if (!held.find(key)) await turnAwayFromCrowd(execution, attempt);
    if (!held.find(key) && attempt.begun > 1) await untilNotAnnounced(db, execution, attempt.signal);
    for (;;) {
      const call =
        held.find(key) ??
        held.make(key, attempt, (own) =>
          make(execution, own).finally(() => {
            attempt.number = own.number;
          }),
        );
      const ending = await seeThrough(held, key, call, attempt, isCancelled);
      if ('error' in ending) throw ending.error;
      // One that began inside a workflow task and found no room did not wait for it: the call is made anew.
      if (!isBusy(ending.reply)) return ending.reply;
    }
  }

  return ({ executionId: callId, left, ...block }) => {
    const execution = { callId, ...block };
    return runAttempt<Reply>(
      async (attempt) => {
        addToLogContext({ block: block.blockKey });
        if (attempt.isLocal) {
          // A regular activity may be in another process, and the workflow says so.
          inProcessRuns.freePlace(callId);
          return orBusy(attempt, () => callInTask(execution, attempt));
        }
        // The first attempt was made before this activity. Its failure gives the engine the cause and the time of the next.
        if (left?.refused && attempt.begun === 2)
          throw new ModelUnavailable(left.refused.message, left.refused);
        return inSlot(slots.models, attempt, () => callAsActivity(execution, attempt));
      },
      {
        isBlock: true,
        left,
        onRefusal: (attempt, refusal) => showRefusal(db, blocks, execution, attempt, refusal),
      },
    );
  };
}

/** Creates the activity for the process's own task queue: it waits for a call that this process holds. */
export function createTakeOverActivities({
  heldModelCalls: held,
  db,
}: Pick<ActivityDeps, 'heldModelCalls' | 'db'>) {
  return {
    callModel: ({ executionId: callId, blockKey }: BlockCall): Promise<Reply> =>
      runAttempt(async (attempt) => {
        const key = keyOf({ callId, blockKey });
        const call = held.find(key);
        if (!call) return { ...BUSY, left: { lost: true } };
        const ending = await seeThrough(held, key, call, attempt, () => hasStopped(db, callId));
        return concludeModelCall(call, ending, attempt.signal);
      }),
  };
}

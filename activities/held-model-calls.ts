// Model calls that began inside a workflow task. One that takes long goes on in its process, which holds it until an activity
// on the process's own task queue takes it over.
import { setTimeout as sleep } from 'node:timers/promises';
import { createTurns, type EndTurn } from '../fairness/turns.ts';
import type { Busy } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { isKeepable } from './attempt-progress.ts';
import type { Attempt } from './run-attempt.ts';

/**
 * Model calls inside workflow tasks: of all organizations, those that come first of organizations that have none, and the
 * most of one while others are present. Each holds one of the worker's workflow tasks, which have to be more.
 */
const IN_TASK = { places: 96, reserve: 32, share: 64 };
/** As long as the activity that takes a call over may wait to be started (workflows/activities.ts). */
const UNTAKEN_MAX_MS = 10_000;
/** How soon a call that nobody has taken over yet learns of its cancellation. */
const LOOK_MS = 1_000;

/** How long model calls may be inside workflow tasks, in milliseconds. */
export type InTask = {
  /**
   * A call holds up its workflow task for this long at most: less than a cancellation may take (3 s), since the workflow
   * hears of it only after the task.
   */
  maxMs: number;
  /** Calls of a model that take longer than this on average do not begin inside a workflow task. */
  slowMs: number;
};

export type Ending = { reply: Value | Pause | Busy } | { error: unknown };

export type HeldModelCall = {
  /** How the call ended; never rejects. */
  ended: Promise<Ending>;
  /** Returns the value that the call has kept last. */
  kept(): unknown;
  abort(reason: unknown): void;
  /** Hands over what the call has kept and will keep. */
  takeOver(keep: (value: object) => void): void;
};

export type HeldModelCalls = {
  /** The task queue of this process. */
  taskQueue: string;
  find(key: string): HeldModelCall | undefined;
  /** Begins a call; undefined when it has to be made by a regular activity, for want of room or because the worker stops. */
  begin(
    key: string,
    organization: string,
    work: (attempt: Attempt) => Promise<Value | Pause | Busy>,
  ): Promise<HeldModelCall | undefined>;
  /** Holds a call that its workflow task waits for no longer, until it is taken over; aborts it when it is cancelled. */
  handOver(key: string, isCancelled: () => Promise<boolean>): void;
  /** Forgets a call whose end has reached its workflow. */
  end(key: string): void;
  /** Begins no more calls; resolves when each has ended or was taken over. */
  drain(): Promise<void>;
};

type Entry = HeldModelCall & { endTurn: EndTurn; untaken: AbortController };

/** Creates the holder of one process's calls; `taskQueue` is of this process alone. */
export function createHeldModelCalls(taskQueue: string): HeldModelCalls {
  const calls = new Map<string, Entry>();
  const turns = createTurns(IN_TASK);
  let drained: PromiseWithResolvers<void> | undefined;

  function resolveDrained(): void {
    if ([...calls.values()].every(({ untaken }) => untaken.signal.aborted)) drained?.resolve();
  }

  function end(key: string): void {
    const call = calls.get(key);
    calls.delete(key);
    call?.endTurn();
    call?.untaken.abort();
    resolveDrained();
  }

  async function watchUntaken(key: string, call: Entry, isCancelled: () => Promise<boolean>): Promise<void> {
    const { signal } = call.untaken;
    const until = performance.now() + UNTAKEN_MAX_MS;
    while (!signal.aborted) {
      const cancelled = await isCancelled().catch(() => false);
      if (signal.aborted) return;
      if (cancelled || performance.now() >= until) {
        call.abort(new Error('Nobody waits for the model call any longer.'));
        end(key);
        return;
      }
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  return {
    taskQueue,
    find: (key) => calls.get(key),
    async begin(key, organization, work) {
      if (drained || turns.isBusy(organization)) return undefined;
      const endTurn = await turns.wait(organization);
      const stop = new AbortController();
      let kept: unknown;
      let keep: ((value: object) => void) | undefined;
      const attempt: Attempt = {
        number: 1,
        begun: 1,
        refusals: 0,
        isLocal: false,
        signal: stop.signal,
        get kept() {
          return kept;
        },
        keep(value) {
          if (!isKeepable(value)) return false;
          kept = value;
          keep?.(value);
          return true;
        },
      };
      const untaken = new AbortController();
      const call: Entry = {
        ended: work(attempt).then(
          (reply) => ({ reply }),
          (error: unknown) => ({ error }),
        ),
        kept: () => kept,
        abort: (reason) => stop.abort(reason),
        takeOver(receive) {
          untaken.abort();
          keep = receive;
          if (kept !== undefined) receive(kept as object);
          resolveDrained();
        },
        endTurn,
        untaken,
      };
      calls.set(key, call);
      return call;
    },
    handOver(key, isCancelled) {
      const call = calls.get(key);
      if (!call) return;
      call.endTurn();
      void watchUntaken(key, call, isCancelled);
    },
    end,
    drain() {
      drained ??= Promise.withResolvers();
      resolveDrained();
      return drained.promise;
    },
  };
}

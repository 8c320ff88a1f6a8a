// The model calls of a process, which belong to it rather than to an activity. One that began inside a workflow task and takes
// long goes on until an activity on the process's own task queue takes it over. One whose activity the engine has taken for lost,
// as after an outage of the engine, goes on until the next attempt has it or finds its block recorded.
import { setTimeout as sleep } from 'node:timers/promises';
import { TAKE_OVER_MAX_MS } from '../flow/model-call.ts';
import type { Busy } from '../flow/run.ts';
import type { Pause } from '../flow/tool-calls.ts';
import type { Value } from '../flow/value.ts';
import { createTurns, type EndTurn } from '../platform/limits/turns.ts';
import { type Announced, type Announcements, createAnnouncer } from './announcer.ts';
import { isKeepable } from './attempts/attempt-progress.ts';
import type { Attempt } from './attempts/run-attempt.ts';
import { CallForsaken } from './call-forsaken.ts';

/**
 * Model calls inside workflow tasks: the most of one organization, and further ones for organizations that have few. Each
 * holds one of the worker's workflow tasks, which have to be more.
 */
const CALLS_IN_TASK = { places: 96, reserve: 32, few: 4 };
/** How long a call waits to be taken over. */
const UNTAKEN: UntakenTimes = { maxMs: TAKE_OVER_MAX_MS, afterOutageMs: 30_000, lookMs: 1_000 };

/** A call that goes on to its end, maybe for an hour beside hundreds of others, is looked at so many times less often. */
const LOOKS_APART = 3;

type UntakenTimes = {
  /** As long as the activity that takes a call over may wait to be started. */
  maxMs: number;
  /** The same once it has failed, after an outage of the engine or of the way to it: its error and what it kept are held. */
  afterOutageMs: number;
  /** How soon the call learns of its cancellation. */
  lookMs: number;
};

/** How long model calls may be inside workflow tasks, in milliseconds. */
export type InTaskTimes = {
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
  /** Whether the call has found that an attempt before it was lost with its workflow task. */
  followsLost(): boolean;
  abort(reason: unknown): void;
  /** Hands over what the call has kept and will keep. */
  takeOver(keep: Keep): void;
};
type Keep = (value: object) => void;
type Work = (attempt: Attempt) => Promise<Value | Pause | Busy>;

export type HeldModelCalls = {
  /** The task queue of this process. */
  taskQueue: string;
  find(key: string): HeldModelCall | undefined;
  /** Begins a call; undefined when it has to be made by a regular activity, for want of room or because the worker stops. */
  begin(key: string, organization: string, work: Work): HeldModelCall | undefined;
  /** Makes a call for an attempt of a regular activity, which is to take it over at once. */
  make(key: string, attempt: Attempt, work: Work): HeldModelCall;
  /** Holds a call that its workflow task no longer waits for, until it is taken over; aborts it if it is cancelled or forgotten. */
  handOver(key: string, isCancelled: () => Promise<boolean>): void;
  /**
   * Holds a call whose activity, which took it over with `keep`, was taken for lost by the engine: until another attempt takes
   * it over, its answer is recorded or it is cancelled.
   */
  giveBack(key: string, keep: Keep, isCancelled: () => Promise<boolean>): void;
  /** Forgets a call whose end has reached its workflow. */
  end(key: string): void;
  /** Begins no more calls; resolves when each has ended or was taken over. */
  drain(): Promise<void>;
};

type Entry = HeldModelCall &
  Announced & {
    endTurn: EndTurn;
    /** Aborts with a reason: without one, an error with a stack would be made for each call. */
    untaken: AbortController;
    /** The one who has taken the call over. */
    keep?: Keep | undefined;
  };

/** A call inside a workflow task is the first attempt. */
const FIRST = {
  number: 1,
  begun: 1,
  refusals: 0,
  unreadable: 0,
  isLocal: false,
  mayWait: false,
  kept: undefined,
};

/** Creates the holder of one process's calls; `taskQueue` is of this process alone. Without `announcements`, nobody is told. */
export function createHeldModelCalls({
  taskQueue,
  isEngineAway,
  untaken: { maxMs, afterOutageMs, lookMs } = UNTAKEN,
  announcements,
}: {
  taskQueue: string;
  isEngineAway: () => Promise<boolean>;
  untaken?: UntakenTimes;
  announcements?: Announcements;
}): HeldModelCalls {
  const calls = new Map<string, Entry>();
  const turns = createTurns(CALLS_IN_TASK);
  let drained: PromiseWithResolvers<void> | undefined;
  const announcer = createAnnouncer(calls, isEngineAway, announcements);

  function resolveDrained(): void {
    if ([...calls.values()].every(({ untaken }) => untaken.signal.aborted)) drained?.resolve();
  }

  function end(key: string): void {
    const call = calls.get(key);
    calls.delete(key);
    call?.endTurn();
    call?.untaken.abort('ended');
    if (call) announcer.withdraw(key, call);
    resolveDrained();
  }

  function add(key: string, base: Omit<Attempt, 'signal' | 'keep'>, work: Work, endTurn: EndTurn): Entry {
    const stop = new AbortController();
    const attempt: Attempt = {
      ...base,
      signal: stop.signal,
      keep(value) {
        if (!isKeepable(value)) return false;
        attempt.kept = value;
        call.keep?.(value);
        return true;
      },
    };
    const call: Entry = {
      ended: work(attempt).then(
        (reply) => ({ reply }),
        (error: unknown) => ({ error }),
      ),
      kept: () => attempt.kept,
      followsLost: () => attempt.number > base.number,
      abort: (reason) => stop.abort(reason),
      takeOver(keep) {
        call.untaken.abort('taken over');
        call.keep = keep;
        call.until = undefined;
        if (attempt.kept !== undefined) keep(attempt.kept as object);
        resolveDrained();
      },
      endTurn,
      untaken: new AbortController(),
    };
    calls.set(key, call);
    void call.ended.then(() => {
      call.hasEnded = true;
    });
    announcer.begin();
    return call;
  }

  /**
   * Has a call go on to its end. Whoever repeats it finds its answer recorded; an error, with what the call kept, is held for
   * some time.
   */
  function holdToEnd(key: string, call: Entry): void {
    const { signal } = call.untaken;
    call.until = Infinity;
    void call.ended.then((ending) => {
      if (signal.aborted) return;
      if ('reply' in ending || drained) return end(key);
      announcer.withdraw(key, call);
      call.until = performance.now() + afterOutageMs;
    });
  }

  /**
   * Aborts a call that its run has no use for any more. While the engine is away nobody can take it over, so it goes on, also
   * once the engine is back: an attempt that was begun meanwhile waits for its end.
   */
  async function watchUntaken(key: string, call: Entry, isCancelled: () => Promise<boolean>): Promise<void> {
    const { signal } = call.untaken;
    while (!signal.aborted) {
      const cancelled = await isCancelled().catch(() => false);
      if (signal.aborted) return;
      if (cancelled || performance.now() >= (call.until ?? 0)) {
        const message = 'Nobody waits for the model call any longer.';
        call.abort(cancelled ? new Error(message) : new CallForsaken(message));
        end(key);
        return;
      }
      const pauseMs = call.until === Infinity ? LOOKS_APART * lookMs : lookMs;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      // Nothing that a stopping worker holds is waited for longer: its process ends.
      if (signal.aborted || drained || call.until === Infinity) continue;
      if ((await isEngineAway()) && !signal.aborted && !drained) holdToEnd(key, call);
    }
  }

  return {
    taskQueue,
    find: (key) => calls.get(key),
    begin(key, organization, work) {
      // Two attempts of one workflow task may get here, one after the other.
      const known = calls.get(key);
      if (known) return known;
      const endTurn = drained ? undefined : turns.takeNow(organization);
      if (!endTurn) return undefined;
      return add(key, FIRST, work, endTurn);
    },
    make: (key, attempt, work) => add(key, attempt, work, () => undefined),
    handOver(key, isCancelled) {
      const call = calls.get(key);
      if (!call) return;
      call.endTurn();
      const isWatched = call.until !== undefined;
      call.until = Math.max(call.until ?? 0, performance.now() + maxMs);
      if (!isWatched) void watchUntaken(key, call, isCancelled);
    },
    giveBack(key, keep, isCancelled) {
      const call = calls.get(key);
      // Another attempt may have it already.
      if (!call || call.keep !== keep) return;
      call.keep = undefined;
      call.untaken = new AbortController();
      holdToEnd(key, call);
      if (drained) call.until = performance.now() + maxMs;
      void watchUntaken(key, call, isCancelled);
    },
    end,
    drain() {
      drained ??= Promise.withResolvers();
      for (const call of calls.values())
        if (call.until !== undefined) call.until = Math.min(call.until, performance.now() + maxMs);
      resolveDrained();
      return drained.promise;
    },
  };
}

// A pool of warm guest processes: each takes one call at a time; the pool grows on demand up to a bound and replaces processes
// in the background.
import { sandboxProcesses } from '../../platform/observability/metrics/worker-metrics.ts';
import { type Confinement, findConfinement } from './confinement.ts';
import { type GuestProcess, startGuest } from './guest-process.ts';
import { BUSY_MAX_MS, IDLE_MAX_MS, RUNS_MAX } from './limits.ts';
import { SandboxUnavailable } from './sandbox-errors.ts';

type Member = {
  guest: GuestProcess;
  idle: boolean;
  runs: number;
  busyMs: number;
  /** Has run enough: serves until its successor is ready, then is `leaving`. */
  worn: boolean;
  leaving: boolean;
  /** Ends a surplus process that stays idle. */
  retirement: NodeJS.Timeout | undefined;
};
type Waiter = { resolve(member: Member): void; reject(error: unknown): void };

/** A bounded set of guest processes. */
export type Pool = {
  /**
   * Runs `task` with a guest of its own, after waiting for one where all are in use. When the task throws, or resolves to
   * `reusable: false`, the guest is replaced. Rejects with SandboxUnavailable when no guest can be started.
   */
  use<Result extends { reusable: boolean }>(
    task: (guest: GuestProcess) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Ends every process and rejects those who wait. */
  close(): Promise<void>;
};

/**
 * Creates a pool of at most `size` processes, and one more for each that has run enough, while its successor starts. The first
 * starts in the background now. All but one end when idle.
 */
export function createPool({ size }: { size: number }): Pool {
  let confinement: Promise<Confinement> | undefined;
  const members = new Set<Member>();
  const starts = new Set<Promise<void>>();
  const waiters: Waiter[] = [];
  const closing = new AbortController();

  const stopMeasuring = sandboxProcesses.observe(() => {
    const idle = findIdle().length;
    return [
      { value: members.size - idle, labels: { state: 'busy' } },
      { value: idle, labels: { state: 'idle' } },
    ];
  });

  function grow(): void {
    if (closing.signal.aborted) return;
    const start = startMember().then(
      () => void starts.delete(start),
      (error: unknown) => {
        starts.delete(start);
        serveWithout(error);
      },
    );
    starts.add(start);
  }

  /** Serves those who wait for a start that failed. */
  function serveWithout(error: unknown): void {
    // Those that have run enough get a successor after their next call instead.
    for (const member of members) if (!member.leaving) member.worn = false;
    const spare = findIdle()[0];
    const waiter = spare && waiters.shift();
    if (spare && waiter) waiter.resolve(take(spare));
    // Without any process nobody would serve those who wait; the next call starts one again.
    else if (members.size === 0 && starts.size === 0)
      for (const waiter of waiters.splice(0)) waiter.reject(error);
  }

  /** Finds the confinement, the same for all processes. A failed search is repeated at the next call. */
  function confine(): Promise<Confinement> {
    confinement ??= findConfinement().catch((error: unknown) => {
      confinement = undefined;
      throw error;
    });
    return confinement;
  }

  async function startMember(): Promise<void> {
    const guest = await startGuest(await confine(), closing.signal);
    const member: Member = {
      guest,
      idle: false,
      runs: 0,
      busyMs: 0,
      worn: false,
      leaving: false,
      retirement: undefined,
    };
    members.add(member);
    void guest.exited.then(() => remove(member));
    const replaced = [...members].find(({ worn, leaving }) => worn && !leaving);
    if (replaced) {
      replaced.leaving = true;
      if (replaced.idle) replaced.guest.kill();
    }
    serve(member);
  }

  function serve(member: Member): void {
    const waiter = waiters.shift();
    if (waiter) {
      waiter.resolve(member);
      return;
    }
    member.idle = true;
    member.retirement = setTimeout(() => {
      if (findIdle().length === 1) return;
      member.leaving = true;
      member.guest.kill();
    }, IDLE_MAX_MS).unref();
  }

  function remove(member: Member): void {
    members.delete(member);
    clearTimeout(member.retirement);
    // A process that never ran is replaced only if somebody waits: this machine may kill them all.
    const wanted = waiters.length > 0 || (member.runs > 0 && !member.leaving && members.size === 0);
    if (wanted && members.size + starts.size < size) grow();
  }

  const findIdle = (): Member[] => [...members].filter(({ idle, leaving }) => idle && !leaving);

  function take(member: Member): Member {
    member.idle = false;
    clearTimeout(member.retirement);
    return member;
  }

  async function acquire(signal: AbortSignal | undefined): Promise<Member> {
    signal?.throwIfAborted();
    if (closing.signal.aborted) throw closing.signal.reason;
    const [idle] = findIdle();
    if (idle) return take(idle);
    const waiter = Promise.withResolvers<Member>();
    waiters.push(waiter);
    // A process that is being started already serves one of those who wait.
    if (starts.size < waiters.length && members.size + starts.size < size) grow();
    const abort = () => {
      const place = waiters.indexOf(waiter);
      if (place < 0) return;
      waiters.splice(place, 1);
      waiter.reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await waiter.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Keeps one spare process warm for the next call, as long as the limit allows. */
  function keepSpare(): void {
    if (starts.size === 0 && findIdle().length === 0 && members.size < size) grow();
  }

  function release(member: Member, reusable: boolean): void {
    if (!reusable || member.leaving) {
      member.guest.kill();
      return;
    }
    if (!member.worn && (member.runs >= RUNS_MAX || member.busyMs > BUSY_MAX_MS)) {
      member.worn = true;
      grow();
    }
    serve(member);
  }

  grow();
  return {
    async use(task, signal) {
      const member = await acquire(signal);
      keepSpare();
      const started = performance.now();
      let reusable = false;
      try {
        const result = await task(member.guest);
        reusable = result.reusable;
        return result;
      } finally {
        member.runs += 1;
        member.busyMs += performance.now() - started;
        release(member, reusable);
      }
    },
    async close() {
      stopMeasuring();
      closing.abort(new SandboxUnavailable('The sandbox was closed'));
      for (const waiter of waiters.splice(0)) waiter.reject(closing.signal.reason);
      await Promise.all(starts);
      for (const { guest } of members) guest.kill();
      await Promise.all([...members].map(({ guest }) => guest.exited));
    },
  };
}

// Announces model calls of a process, as long as there are any, to other processes.
import { AsyncResource } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** How soon other processes are told that calls go on here while the engine is away: before it takes their activities for lost. */
const ANNOUNCE_MS = 2_000;

/** Tells other processes of calls, by their keys, that go on here although an attempt may begin there. */
export type Announcements = {
  tell(keys: string[]): Promise<void>;
  withdraw(key: string): Promise<void>;
};

export type Announced = {
  /** When the call is aborted unless it was taken over; undefined unless it waits for that, Infinity when it goes on to its end. */
  until?: number | undefined;
  hasEnded?: boolean;
  isAnnounced?: boolean;
};

/** Announces those of `calls` under way that the engine may begin elsewhere, too. Without `announcements`, nobody is told. */
export function createAnnouncer(
  calls: ReadonlyMap<string, Announced>,
  isEngineAway: () => Promise<boolean>,
  announcements?: Announcements,
) {
  let isAnnouncing = false;
  let telling: Promise<unknown> = Promise.resolve();

  async function announce({ tell }: Announcements): Promise<void> {
    isAnnouncing = true;
    while (calls.size > 0) {
      await sleep(ANNOUNCE_MS, undefined, { ref: false });
      const isAway = await isEngineAway();
      const told = [...calls].filter(
        ([, { until, hasEnded }]) => !hasEnded && (isAway || until === Infinity),
      );
      for (const [, call] of told) call.isAnnounced = true;
      if (told.length > 0) telling = tell(told.map(([key]) => key)).catch(() => undefined);
      await telling;
    }
    isAnnouncing = false;
  }
  // It outlives the activity that begins it, so it has nothing of that one's context.
  const announceApart = AsyncResource.bind(announce);

  return {
    /** Announces as long as there are calls. */
    begin(): void {
      if (announcements && !isAnnouncing) void announceApart(announcements);
    },
    withdraw(key: string, call: Announced): void {
      if (!call.isAnnounced) return;
      call.isAnnounced = false;
      // An announcement that is on its way would come after this.
      void telling.then(() => announcements?.withdraw(key)).catch(() => undefined);
    },
  };
}

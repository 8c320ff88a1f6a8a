// Fairness between webhook destinations: one that hangs keeps no other waiting.

/** Attempts under way at one host, and for one organization, in one worker. */
export const HOST_RUNNING_MAX = 10;
const ORGANIZATION_RUNNING_MAX = 40;
/** Of all that the worker has in hand, the waiting included, so much may be one host's, and one organization's. */
const HOST_SHARE = 1 / 8;
const ORGANIZATION_SHARE = 1 / 4;
const WAIT_MAX_MS = 10_000;

export type Destination = { host: string; organizationId: string };

export type DestinationGate = {
  /** Waits for its turn; answers how to leave, or undefined when there is no room within WAIT_MAX_MS, or for waiting. */
  enter(destination: Destination): Promise<(() => void) | undefined>;
};

type Waiting = { keys: [string, string]; admit: () => void };

/** A gate for a worker that has at most `concurrency` attempts in hand. */
export function createDestinationGate(concurrency: number): DestinationGate {
  const inHand = new Counter();
  const running = new Counter();
  const queue = new Set<Waiting>();
  const hostInHandMax = Math.max(1, Math.floor(concurrency * HOST_SHARE));
  const organizationInHandMax = Math.max(1, Math.floor(concurrency * ORGANIZATION_SHARE));

  const hasRoom = ([host, organization]: [string, string]) =>
    running.of(host) < HOST_RUNNING_MAX && running.of(organization) < ORGANIZATION_RUNNING_MAX;

  function admitWaiting(): void {
    for (const waiting of queue) if (hasRoom(waiting.keys)) waiting.admit();
  }

  return {
    async enter({ host, organizationId }) {
      const keys: [string, string] = [`host ${host}`, `organization ${organizationId}`];
      if (inHand.of(keys[0]) >= hostInHandMax || inHand.of(keys[1]) >= organizationInHandMax)
        return undefined;
      inHand.add(keys, 1);
      const admitted = await new Promise<boolean>((resolve) => {
        const decide = (isAdmitted: boolean) => {
          clearTimeout(timer);
          queue.delete(waiting);
          if (isAdmitted) running.add(keys, 1);
          resolve(isAdmitted);
        };
        const timer = setTimeout(() => decide(false), WAIT_MAX_MS).unref();
        const waiting = { keys, admit: () => decide(true) };
        queue.add(waiting);
        if (hasRoom(keys)) waiting.admit();
      });
      if (!admitted) {
        inHand.add(keys, -1);
        return undefined;
      }
      return () => {
        inHand.add(keys, -1);
        running.add(keys, -1);
        admitWaiting();
      };
    },
  };
}

/** Counts by key; a key at zero takes no memory. */
class Counter {
  readonly #counts = new Map<string, number>();
  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
  add(keys: string[], change: number): void {
    for (const key of keys) {
      const count = this.of(key) + change;
      if (count === 0) this.#counts.delete(key);
      else this.#counts.set(key, count);
    }
  }
}

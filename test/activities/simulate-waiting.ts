import { createSlots, type Slots } from '../../activities/attempts/in-slot.ts';

type Waiting = {
  places: number;
  /** How long each slot is held. */
  heldMs: number;
  /** Blocks that wait at any time. */
  waiting: number;
  /** The fairness keys that they have in equal parts. */
  keys: string[];
  /** The measurement begins here and takes `seconds`: five minutes, after five others. */
  fromSecond?: number;
  seconds?: number;
  /** Makes the slots of a worker. */
  create?: (places: Parameters<typeof createSlots>[0], now: () => number) => Slots;
};

/**
 * Simulates, by a clock of its own, blocks that wait for the slots of one worker: as many come at once, and for each that finds a
 * slot another comes. Returns attempts and freed slots a second, the part of the slots that were free, and how long a block
 * waited at most between two attempts.
 */
export function simulateWaiting({
  places,
  heldMs,
  waiting,
  keys,
  fromSecond = 300,
  seconds = 300,
  create = createSlots,
}: Waiting) {
  let now = 0;
  const events = new Map<number, (() => void)[]>();
  const after = (ms: number, event: () => void) => {
    const at = Math.max(now + 1, Math.round(now + ms));
    const others = events.get(at);
    if (others) others.push(event);
    else events.set(at, [event]);
  };
  const slots = create({ places, reserve: 0 }, () => now);
  const found = new Map<string, number>();
  let [attempts, freed, taken, free, longestMs] = [0, 0, 0, 0, 0];
  const isMeasured = () => now >= fromSecond * 1_000;

  function attempt(key: string): void {
    const measured = isMeasured();
    if (measured) attempts += 1;
    const end = slots.takeNow(key);
    if (!end) {
      const ms = slots.nextInMs(key);
      if (measured) longestMs = Math.max(longestMs, ms);
      after(ms, () => attempt(key));
      return;
    }
    taken += 1;
    if (measured) found.set(key, (found.get(key) ?? 0) + 1 / seconds);
    after(heldMs * (0.5 + Math.random()), () => {
      taken -= 1;
      if (isMeasured()) freed += 1;
      end();
    });
    after(0, () => attempt(key));
  }

  for (let index = 0; index < waiting; index += 1)
    after(index, () => attempt(keys[index % keys.length] as string));
  for (; now < (fromSecond + seconds) * 1_000; now += 1) {
    for (const event of events.get(now) ?? []) event();
    events.delete(now);
    if (isMeasured()) free += places - taken;
  }
  return {
    attempts: attempts / seconds,
    freed: freed / seconds,
    found,
    idle: free / (places * seconds * 1_000),
    longestMs,
  };
}

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** A look takes this long. */
const LOOK_MS = 100;
/** While less of the time of the processors is used than this, one place more. */
const ROOM_BELOW = 0.5;
/** While more of it is used than this, half as many. Between the two, as many as there are. */
const FULL_ABOVE = 0.65;

/** Places for work that leaves processors idle, because it waits for something further away. */
export type SparePlaces = {
  /** How many there are now. */
  count(): number;
  /**
   * Begins to look how many there may be, and goes on for as long as somebody waits or there are any. `onGrowth` is called
   * whenever there is one more.
   */
  look(doesAnyoneWait: () => boolean, onGrowth: () => void): void;
};

/**
 * Creates up to `max` spare places: one more with each look while somebody waits and half of the processors' time is unused, so
 * that what comes next finds them free. `measure` resolves with the part of the time that was used, 0 to 1.
 */
export function createSparePlaces(max: number, measure = measureUse): SparePlaces {
  let count = 0;
  let looking = false;
  async function adjust(doesAnyoneWait: () => boolean, onGrowth: () => void): Promise<void> {
    do {
      const used = await measure();
      if (used > FULL_ABOVE) count = Math.floor(count / 2);
      else if (!doesAnyoneWait()) count = Math.max(0, count - 1);
      else if (used < ROOM_BELOW && count < max) {
        count += 1;
        onGrowth();
      }
    } while (count > 0 || doesAnyoneWait());
  }
  return {
    count: () => count,
    look(doesAnyoneWait, onGrowth) {
      if (looking) return;
      looking = true;
      const done = () => {
        looking = false;
      };
      adjust(doesAnyoneWait, onGrowth).then(done, done);
    },
  };
}

/** Resolves with the busiest of the main thread, this process as a part of the processors it may use, and the machine. */
export async function measureUse(): Promise<number> {
  const machine = await readMachine();
  const loop = performance.eventLoopUtilization();
  const own = process.cpuUsage();
  const began = performance.now();
  await setTimeout(LOOK_MS, undefined, { ref: false });
  const { user, system } = process.cpuUsage(own);
  const ms = performance.now() - began;
  const now = await readMachine();
  return Math.max(
    performance.eventLoopUtilization(loop).utilization,
    (user + system) / 1_000 / ms / availableParallelism(),
    (now.busy - machine.busy) / (now.all - machine.all || 1),
  );
}

/** Returns the time of all processors since the machine began, in ticks of its clock; zeros where it has no /proc/stat. */
async function readMachine(): Promise<{ busy: number; all: number }> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  // cpu user nice system idle iowait irq softirq steal; guests are part of user.
  const ticks = text.split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  const all = ticks.reduce((sum, part) => sum + part, 0);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}

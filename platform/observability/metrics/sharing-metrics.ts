// The metrics of what organizations take turns at in one process.
import { counter, gauge } from './instruments.ts';

const turnsUnderWay = gauge({
  name: 'weir.turns.under_way',
  unit: '{turn}',
  description: 'Turns under way at what organizations share in the process.',
  labels: ['at'],
});

const turnsWaiting = gauge({
  name: 'weir.turns.waiting',
  unit: '{turn}',
  description: 'Turns that wait for others to end.',
  labels: ['at'],
});

/** Without `countWaiting` where nothing waits for a turn. */
type Turns = { [at: string]: { countUnderWay(): number; countWaiting?(): number } };

/** Has turns be metrics, each under its name here, until the returned function is called. */
export function observeTurns(turns: Turns): () => void {
  const read = (count: 'countUnderWay' | 'countWaiting') =>
    Object.entries(turns).flatMap(([at, of]) => {
      const value = of[count]?.();
      return value === undefined ? [] : [{ value, labels: { at } }];
    });
  const stops = [
    turnsUnderWay.observe(() => read('countUnderWay')),
    turnsWaiting.observe(() => read('countWaiting')),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

export const slotRefusals = counter({
  name: 'weir.slot.refusals',
  unit: '{attempt}',
  description: 'Attempts of blocks that found no slot in their worker (`WAITS_FOR_SLOT`) and are made again.',
  zeros: [{}],
});

const memoryHeld = gauge({
  name: 'weir.memory.held',
  unit: 'By',
  description: 'Bytes of large values that are in hand, prompts in characters.',
  labels: ['budget'],
});

const memoryWaiting = gauge({
  name: 'weir.memory.waiting',
  unit: '{value}',
  description: 'Large values that wait until there is memory for them.',
  labels: ['budget'],
});

type Budgets = { [budget: string]: { countHeld(): number; countWaiting(): number } };

/** Has budgets of bytes be metrics, each under its name here, until the returned function is called. */
export function observeMemory(budgets: Budgets): () => void {
  const read = (count: 'countHeld' | 'countWaiting') =>
    Object.entries(budgets).map(([budget, of]) => ({ value: of[count](), labels: { budget } }));
  const stops = [
    memoryHeld.observe(() => read('countHeld')),
    memoryWaiting.observe(() => read('countWaiting')),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

import type { Round } from './measure.ts';
import { median } from './statistics.ts';

type Aim = {
  name: string;
  of: string;
  to: string;
  value: (round: Round) => number;
  atMost?: number;
  atLeast?: number;
};

const AIMS: Aim[] = [
  { name: 'b / a, p50 at 1', of: 'b', to: 'a', value: (round) => round.p50, atMost: 0.5 },
  { name: 'b / a, runs/s at 16', of: 'b', to: 'a', value: (round) => round.perSecondAt16, atLeast: 2 },
  { name: 'b / a, runs/s at 64', of: 'b', to: 'a', value: (round) => round.perSecondAt64, atLeast: 2 },
  { name: 'b / c, runs/s at 16', of: 'b', to: 'c', value: (round) => round.perSecondAt16, atLeast: 0.6 },
  { name: 'b / c, runs/s at 64', of: 'b', to: 'c', value: (round) => round.perSecondAt64, atLeast: 0.6 },
];

export type Ratio = { name: string; aim: string; median: number; rounds: number[]; reached: boolean };

/** Computes each ratio within its round, then the median; leaves out candidates that did not run. */
export function compareRounds(rounds: Record<string, Round[]>): Ratio[] {
  return AIMS.flatMap(({ name, of, to, value, atMost, atLeast }) => {
    const others = rounds[to];
    const ratios = rounds[of]?.flatMap((round, index) => {
      const other = others?.[index];
      return other ? [value(round) / value(other)] : [];
    });
    if (!ratios?.length) return [];
    const middle = median(ratios);
    const aim = atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
    const reached = middle <= (atMost ?? Infinity) && middle >= (atLeast ?? 0);
    return [{ name, aim, median: middle, rounds: ratios, reached }];
  });
}

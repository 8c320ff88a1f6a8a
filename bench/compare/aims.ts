// The aims: computed within each round, so that a drift of the machine affects both sides of a ratio, then the median.

import { median } from '../setup/statistics.ts';
import { CANDIDATES, type Letter } from './candidates.ts';
import { HISTORY_PER_BLOCK } from './large-parts.ts';
import { type CandidateFigures, type Load, serverCpuMs } from './measure.ts';
import { PARTS } from './parts.ts';

/** The figures of one round: of each candidate, and of each further part, by name. */
export type Round = {
  candidates: Record<string, CandidateFigures>;
  parts: Record<string, Record<string, number>>;
};

/** A bound on a figure, which is undefined in a round that did not measure it. */
type Aim = { name: string; value: (round: Round) => number | undefined } & (
  | { atMost: number }
  | { atLeast: number }
);
export type AimResult = { name: string; aim: string; median: number; rounds: number[]; met: boolean };

const p50 = (load: Load) => load.p50;
const perSecond = (load: Load) => load.perSecond;
const cpuMs = (load: Load) => serverCpuMs(load.cpuMsPerRun);

const AIMS: Aim[] = [
  ...[' plain', ''].flatMap((server) => [
    ...modelCallsBesideByHand('k', `l${server}`),
    ...modelCallsBesideByHand('e', `i${server}`),
  ]),
  {
    name: 'long model calls in turn, p50 ms added',
    value: part(PARTS.long.title, 'added to those in turn, p50 ms'),
    atMost: 60,
  },
  {
    name: "long model calls, the engine's share of a core while none begins or ends",
    value: part(PARTS.long.title, "the engine's share of a core while none begins or ends"),
    atMost: 0.15,
  },
  {
    name: 'passthroughs beside long model calls, p95 ms added',
    value: ({ parts }) => {
      const figures = parts[PARTS.long.title];
      return (
        figures &&
        (figures['passthroughs beside, p95 ms'] ?? 0) - (figures['passthroughs alone, p95 ms'] ?? 0)
      );
    },
    atMost: 200,
  },
  ...(['b', 'g'] as const).flatMap(steadyAims),
  {
    name: 'quiet organization beside a flood, p95 / p50 alone',
    value: ratioIn(PARTS.flood.title, 'beside the flood, p95 ms', 'alone, p50 ms'),
    atMost: 3,
  },
  { name: '/step, first event, p50 ms', value: part(PARTS.step.title, 'first event, p50 ms'), atMost: 20 },
  {
    name: 'beside many runs, largest p95 / p95 beside few',
    value: part(PARTS.million.title, 'largest p95 / p95 beside few runs'),
    atMost: 1.5,
  },
  ...[' plain', ''].flatMap(besideByHand),
  {
    // With an activity of its own, a block takes 427 to 472, whatever the size of its output.
    name: '200 blocks, history bytes per block, the most of outputs over 2 KB',
    value: part(PARTS.large.title, HISTORY_PER_BLOCK),
    atMost: 430,
  },
];

/** Returns the aims of which something was measured. */
export function compareWithAims(rounds: Round[]): AimResult[] {
  return AIMS.flatMap((aim) => {
    const values = rounds.flatMap((round) => aim.value(round) ?? []);
    if (values.length === 0) return [];
    const middle = median(values);
    const met = 'atMost' in aim ? middle <= aim.atMost : middle >= aim.atLeast;
    const bound = 'atMost' in aim ? `≤ ${aim.atMost}` : `≥ ${aim.atLeast}`;
    return [{ name: aim.name, aim: bound, median: middle, rounds: values, met }];
  });
}

function steadyAims(letter: Letter): Aim[] {
  return [64, 256].flatMap((callers): Aim[] => [
    {
      name: `${letter}, p95 / p50 at ${callers} callers`,
      value: at(letter, callers, (load) => load.p95 / load.p50),
      atMost: 2,
    },
    {
      name: `${letter}, longest / p50 at ${callers} callers`,
      value: at(letter, callers, (load) => load.max / load.p50),
      atMost: 4,
    },
    {
      name: `${letter}, runs/s at ${callers} callers / at 16`,
      value: ({ candidates }) => {
        const few = candidates[letter]?.at[16];
        const many = candidates[letter]?.at[callers];
        return few && many && many.perSecond / few.perSecond;
      },
      atLeast: 0.95,
    },
  ]);
}

/** The aims of model calls beside the same calls as regular activities of a workflow written by hand. */
function modelCallsBesideByHand(weir: 'k' | 'e', byHand: string): Aim[] {
  return CANDIDATES[weir].callers.flatMap((callers): Aim[] => {
    const name = `${weir} / ${byHand}`;
    return [
      {
        name: `${name}, runs/s at ${callers} callers`,
        value: ratio(weir, byHand, callers, perSecond),
        atLeast: 0.95,
      },
      {
        name: `${name}, processor ms per run at ${callers} callers`,
        value: ratio(weir, byHand, callers, cpuMs),
        atMost: 1.3,
      },
      { name: `${name}, p50 ms at ${callers} callers`, value: ratio(weir, byHand, callers, p50), atMost: 1 },
    ];
  });
}

/** The aims beside what is written by hand on a Temporal server: the plain one, as when they were set, or Weir's own. */
function besideByHand(server: string): Aim[] {
  const [a, c] = [`a${server}`, `c${server}`];
  return [
    ...[16, 64].flatMap((callers): Aim[] => [
      {
        name: `b / ${c}, runs/s at ${callers} callers`,
        value: ratio('b', c, callers, perSecond),
        atLeast: 0.85,
      },
      {
        name: `b / ${a}, runs/s at ${callers} callers`,
        value: ratio('b', a, callers, perSecond),
        atLeast: 2.5,
      },
      {
        name: `h / ${c}, runs/s at ${callers} callers`,
        value: ratio('h', c, callers, perSecond),
        atLeast: 0.75,
      },
    ]),
    { name: `b / ${a}, p50 at 1 caller`, value: ratio('b', a, 1, p50), atMost: 0.4 },
  ];
}

function at(name: string, callers: number, value: (load: Load) => number): Aim['value'] {
  return ({ candidates }) => {
    const load = candidates[name]?.at[callers];
    return load && value(load);
  };
}

function ratio(of: string, to: string, callers: number, value: (load: Load) => number): Aim['value'] {
  return (round) => {
    const [upper, lower] = [at(of, callers, value)(round), at(to, callers, value)(round)];
    return upper !== undefined && lower !== undefined ? upper / lower : undefined;
  };
}

/** Throws when the part was measured without that figure. */
function part(name: string, figure: string): Aim['value'] {
  return ({ parts }) => {
    const figures = parts[name];
    if (figures && figures[figure] === undefined) throw new Error(`${name} has no figure "${figure}".`);
    return figures?.[figure];
  };
}

function ratioIn(name: string, of: string, to: string): Aim['value'] {
  return (round) => {
    const [upper, lower] = [part(name, of)(round), part(name, to)(round)];
    return upper !== undefined && lower !== undefined ? upper / lower : undefined;
  };
}

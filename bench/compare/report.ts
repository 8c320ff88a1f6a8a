// Formats a measurement as Markdown tables. Figures are medians over the rounds.

import { median } from '../setup/statistics.ts';
import type { AimResult, Round } from './aims.ts';
import { CANDIDATES, type Letter } from './candidates.ts';
import { type CandidateFigures, type Load, type Split, serverCpuMs } from './measure.ts';

export type Results = {
  machine: { system: string; processors: string; node: string; load: number[] };
  rounds: Round[];
  aims: AimResult[];
};

/** The figures of one candidate or part in all rounds that measured it. */
type Measured<T> = { name: string; rounds: T[] };

/** Formats the whole report. */
export function formatResults({ machine, rounds, aims }: Results): string {
  const candidates = collect(rounds.map((round) => round.candidates));
  const times = [...new Set(candidates.map(({ name }) => modelMsOf(name)))].sort((a, b) => b - a);
  const parts = collect(rounds.map((round) => round.parts));
  return [
    `${machine.processors}, ${machine.system}, Node ${machine.node}; load average before: ${machine.load.map(format).join(' ')}. ` +
      (rounds.length === 1 ? 'One round.' : `Medians of ${rounds.length} rounds.`),
    ...times.map((ms) =>
      formatLoads(
        ms > 0 ? `Three model calls of ${ms} ms` : 'Three blocks',
        candidates.filter(({ name }) => modelMsOf(name) === ms),
        3 * ms,
      ),
    ),
    formatMemory(candidates),
    ...parts.map(formatPart),
    aims.length > 0 &&
      table(
        ['Aim', 'median', 'rounds', 'aim', ''],
        aims.map((aim) => [
          ...[aim.name, aim.median.toFixed(2), aim.rounds.map((value) => value.toFixed(2)).join(' ')],
          ...[aim.aim, aim.met ? 'met' : 'not met'],
        ]),
      ),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** A row for each candidate and number of callers; `awaitedMs` of each run are not the candidate's. */
function formatLoads(title: string, candidates: Measured<CandidateFigures>[], awaitedMs: number): string {
  const first = Object.values(candidates[0]?.rounds[0]?.at ?? {})[0];
  if (!first) return '';
  const groups = Object.keys(first.cpuMsPerRun);
  const rows = candidates.flatMap(({ name, rounds }) =>
    Object.keys(rounds[0]?.at ?? {}).map((callers) => {
      const loads = rounds.flatMap((round) => round.at[Number(callers)] ?? []);
      const middle = (value: (load: Load) => number | null) => middleOf(loads.map(value));
      return [
        ...[labelOf(name), callers],
        ...(awaitedMs > 0
          ? [middle((load) => load.p50 - awaitedMs), middle((load) => load.p95 - awaitedMs)]
          : []),
        ...[middle((load) => load.p50), middle((load) => load.p95), middle((load) => load.max)],
        ...[middle((load) => load.perSecond), middle((load) => load.refused)],
        middle((load) => serverCpuMs(load.cpuMsPerRun)),
        ...groups.map((group) => middle((load) => load.cpuMsPerRun[group] ?? null)),
      ];
    }),
  );
  const added = awaitedMs > 0 ? ['p50 ms added', 'p95 ms added'] : [];
  const head = [title, 'callers', ...added, 'p50 ms', 'p95', 'longest', 'runs/s', 'refused'];
  return table([...head, 'processor ms per run', ...groups], rows);
}

function formatMemory(candidates: Measured<CandidateFigures>[]): string {
  const groups = Object.keys(candidates[0]?.rounds[0]?.residentMb ?? {});
  if (groups.length === 0) return '';
  const memory = (rounds: CandidateFigures[], group: string) =>
    middleOf(rounds.map(({ residentMb }: { residentMb: Split }) => residentMb[group] ?? null));
  return table(
    ['Memory after the most callers, MB', ...groups],
    candidates.map(({ name, rounds }) => [labelOf(name), ...groups.map((group) => memory(rounds, group))]),
  );
}

function formatPart({ name, rounds }: Measured<Record<string, number>>): string {
  const figures = Object.keys(rounds[0] ?? {});
  return table(
    [name, 'median'],
    figures.map((figure) => [figure, middleOf(rounds.map((round) => round[figure] ?? null))]),
  );
}

function collect<T>(rounds: Record<string, T>[]): Measured<T>[] {
  const names = [...new Set(rounds.flatMap((round) => Object.keys(round)))];
  return names.map((name) => ({ name, rounds: rounds.flatMap((round) => round[name] ?? []) }));
}

/** The name is a letter, alone or before how Weir's processes are arranged. */
function candidateOf(name: string): { name: string; modelMs?: number } {
  return CANDIDATES[name.slice(0, 1) as Letter];
}

function modelMsOf(name: string): number {
  return candidateOf(name).modelMs ?? 0;
}

function labelOf(name: string): string {
  return `${name}: ${candidateOf(name).name}`;
}

function middleOf(values: (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? format(median(known)) : 'not measured';
}

function format(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0);
}

function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

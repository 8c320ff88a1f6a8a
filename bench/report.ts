// Formats the tables of a measurement.
import type { Jobs, ModelRuns, Round, Split } from './measure.ts';
import type { Ratio } from './ratios.ts';
import { median } from './statistics.ts';

export type Results = {
  machine: { system: string; processors: string; node: string; load: number[] };
  names: Record<string, string>;
  rounds: Record<string, Round[]>;
  models?: ModelRuns[];
  jobs?: Jobs;
  callbacks?: Jobs;
  ratios: Ratio[];
};

/** Formats the whole report; figures are medians over the rounds. */
export function formatResults({
  machine,
  names,
  rounds,
  models = [],
  jobs,
  callbacks,
  ratios,
}: Results): string {
  const measured = Object.entries(rounds);
  const rowOf = (letter: string) => `${letter}  ${names[letter]}`;
  const middle = (all: Round[], value: (round: Round) => number) => format(median(all.map(value)));
  const splitTable = (title: string, value: (round: Round) => Split) =>
    table(
      [title, ...groupsOf(measured.flatMap(([, all]) => all.map(value)))],
      measured.map(([letter, all]) => [rowOf(letter), ...mediansOf(all.map(value))]),
    );
  const count = measured[0]?.[1].length;
  return [
    `${machine.processors}, ${machine.system}, Node ${machine.node}; load average before: ${machine.load.map(format).join(' ')}`,
    measured.length > 0 &&
      [
        count === 1 ? 'One round.' : `Medians over ${count} rounds.`,
        table(
          ['', 'p50 ms, 1 caller', 'p95', 'p99', 'runs/s, 16 callers', 'runs/s, 64 callers'],
          measured.map(([letter, all]) => [
            rowOf(letter),
            middle(all, (round) => round.p50),
            middle(all, (round) => round.p95),
            middle(all, (round) => round.p99),
            middle(all, (round) => round.perSecondAt16),
            middle(all, (round) => round.perSecondAt64),
          ]),
        ),
        splitTable('Processor ms per run, 16 callers', (round) => round.cpuMsPerRun),
        splitTable('Memory after 64 callers, MB', (round) => round.residentMb),
      ].join('\n\n'),
    models.length > 0 &&
      table(
        [
          `e  ${names.e}`,
          'p50 ms beyond 900',
          'p95',
          ...groupsOf(models.map((row) => row.cpuMsPerRun)).map((group) => `${group} ms/run`),
        ],
        models.map(({ concurrency, addedP50, addedP95, cpuMsPerRun }) => [
          `${concurrency} callers`,
          ...[addedP50, addedP95, ...Object.values(cpuMsPerRun)].map(format),
        ]),
      ),
    jobs &&
      `/jobs: ${format(jobs.acceptedPerSecond)} accepted per second, all ${jobs.count} complete ${format(jobs.secondsToComplete)} s after the first request.`,
    callbacks &&
      `Webhooks: ${format(callbacks.acceptedPerSecond)} runs accepted per second, all ${callbacks.count} delivered ${format(callbacks.secondsToComplete)} s after the first request.`,
    ratios.length > 0 &&
      table(
        ['Ratio', 'median', 'aim', ''],
        ratios.map((ratio) => [
          ratio.name,
          ratio.median.toFixed(2),
          ratio.aim,
          ratio.reached ? 'reached' : 'NOT reached',
        ]),
      ),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** The groups are the same in every row. */
function groupsOf(splits: Split[]): string[] {
  return Object.keys(splits[0] ?? {});
}

function mediansOf(splits: Split[]): string[] {
  return groupsOf(splits).map((group) => {
    const values = splits.flatMap((split) => split[group] ?? []);
    return format(values.length > 0 ? median(values) : null);
  });
}

function format(value: number | null): string {
  if (value === null) return 'not measured';
  return Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0);
}

function table(head: string[], rows: string[][]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
  return all.map((row) => line(row).join('   ').trimEnd()).join('\n');
}

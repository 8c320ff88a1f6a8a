// Maps time to a distance from 0 to 1. Long idle times, such as a pause for tool calls, are shortened.
import { formatDuration } from '../../ui/format.ts';

type Interval = { start: number; end: number };
type Segment = Interval & { isCut: boolean; from: number; to: number };

export type TimeScale = {
  start: number;
  /** Returns the distance of a time, from 0 to 1. */
  at: (time: number) => number;
  timeAt: (distance: number) => number;
  cuts: { from: number; to: number; ms: number }[];
  /** Returns at most about `count` ticks: milliseconds since the start, and their distance. */
  ticks: (count: number) => { ms: number; at: number }[];
};

const CUT_SHARE = 0.05;
const CUT_MIN_MS = 2_000;

/** Creates the time scale of a run whose work was done in these intervals. */
export function makeTimeScale(run: Interval, work: readonly Interval[]): TimeScale {
  const end = Math.max(run.end, run.start + 1);
  const segments = placed(cutIdle({ start: run.start, end }, work));
  const shown = segments.filter(({ isCut }) => !isCut);

  function at(time: number): number {
    const clamped = Math.min(end, Math.max(run.start, time));
    const { start, end: last, from, to } = segments.find((segment) => clamped <= segment.end) as Segment;
    return from + ((clamped - start) / (last - start)) * (to - from);
  }
  function timeAt(distance: number): number {
    const clamped = Math.min(1, Math.max(0, distance));
    const segment = segments.find(({ to }) => clamped <= to) ?? (segments.at(-1) as Segment);
    return (
      segment.start + ((clamped - segment.from) / (segment.to - segment.from)) * (segment.end - segment.start)
    );
  }
  function ticks(count: number) {
    const ms = shown.reduce((sum, segment) => sum + segment.end - segment.start, 0);
    const step = niceStep(ms / Math.max(1, count));
    return shown.flatMap((segment) => {
      const first = Math.ceil((segment.start - run.start) / step);
      const last = Math.floor((segment.end - run.start) / step);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
        const offset = (first + index) * step;
        return { ms: offset, at: at(run.start + offset) };
      });
    });
  }
  const cuts = segments
    .filter(({ isCut }) => isCut)
    .map(({ start, end, from, to }) => ({ from, to, ms: end - start }));
  return { start: run.start, at, timeAt, cuts, ticks };
}

/**
 * Returns the ticks with room for a label of this width, which begins at its tick, before the next label and the end. Ticks
 * late in a run may be closer than labels tell: of those with equal labels, the first is returned.
 */
export function withRoom<Tick extends { ms: number; at: number }>(
  ticks: readonly Tick[],
  width: number,
): Tick[] {
  const shown: Tick[] = [];
  for (const tick of ticks) {
    const last = shown.at(-1);
    if (tick.at + width > 1 || (last && last.at + width > tick.at)) continue;
    if (!last || formatDuration(last.ms) !== formatDuration(tick.ms)) shown.push(tick);
  }
  return shown;
}

/** Returns 1, 2 or 5 times a power of ten, at least `ms`; from a minute on, round minutes and hours. */
export function niceStep(ms: number): number {
  for (const step of [
    60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000,
  ])
    if (ms > 30_000 && ms <= step) return step;
  const power = 10 ** Math.floor(Math.log10(Math.max(ms, 1)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= ms) ?? 10);
}

function cutIdle(run: Interval, work: readonly Interval[]): (Interval & { isCut: boolean })[] {
  const busy = merge(work);
  const worked = busy.reduce((sum, { start, end }) => sum + end - start, 0);
  const longest = busy.length === 0 ? Number.POSITIVE_INFINITY : Math.max(CUT_MIN_MS, worked);
  const segments: (Interval & { isCut: boolean })[] = [];
  let from = run.start;
  let idleFrom = run.start;
  for (const { start, end } of [...busy, { start: run.end, end: run.end }]) {
    if (start - idleFrom > longest) {
      if (idleFrom > from) segments.push({ start: from, end: idleFrom, isCut: false });
      segments.push({ start: idleFrom, end: start, isCut: true });
      from = start;
    }
    idleFrom = end;
  }
  if (run.end > from) segments.push({ start: from, end: run.end, isCut: false });
  return segments;
}

/** Joins overlapping intervals. */
function merge(intervals: readonly Interval[]): Interval[] {
  const merged: Interval[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ start, end });
  }
  return merged;
}

function placed(segments: (Interval & { isCut: boolean })[]): Segment[] {
  const cuts = segments.filter(({ isCut }) => isCut).length;
  const share = Math.min(CUT_SHARE, 0.5 / Math.max(1, cuts));
  const ms = segments.reduce((sum, { isCut, start, end }) => sum + (isCut ? 0 : end - start), 0);
  const free = ms === 0 ? 0 : 1 - cuts * share;
  let from = 0;
  return segments.map((segment) => {
    const size =
      ms === 0 ? 1 / segments.length : segment.isCut ? share : ((segment.end - segment.start) / ms) * free;
    const place = { ...segment, from, to: from + size };
    from += size;
    return place;
  });
}

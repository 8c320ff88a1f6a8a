// The list of runs that is being read, and what a newer look at its beginning says.
import type { components } from '../../api/schema.d.ts';

export type ListedRun = components['schemas']['ListedRun'];
export type RunPage = components['schemas']['ListedRuns'];

type Merged = {
  /** The runs to show, in the order in which they were loaded, each as it is now. */
  rows: ListedRun[];
  /** Runs that began since, newest first, which are not shown until the reader asks for them. */
  fresh: ListedRun[];
  /** Whether runs may lie between `fresh` and `rows`: the list has to be loaded anew to show them. */
  hasGap: boolean;
};

/**
 * Brings the loaded pages up to date with a newer first page: rows take its states, and a row that it should have and
 * does not have is left out, since it no longer passes the filter. Nothing is inserted above what is being read.
 */
export function mergeRuns(pages: readonly RunPage[], head: RunPage | undefined): Merged {
  const loaded = pages.flatMap(({ runs }) => runs);
  if (!head) return { rows: unique(loaded), fresh: [], hasGap: false };
  const newest = new Map(head.runs.map((run) => [run.executionId, run]));
  const known = new Set(loaded.map(({ executionId }) => executionId));
  // What the newer page covers begins at its oldest run, or, when it is the only page, is everything.
  const oldest = head.hasMore ? head.runs.at(-1)?.startedAt : '';
  const rows = loaded.flatMap((run) => {
    const now = newest.get(run.executionId);
    if (now) return [now];
    return oldest !== undefined && run.startedAt > oldest ? [] : [run];
  });
  // Older ones than the last row come with the next page.
  const last = pages.at(-1)?.hasMore ? (loaded.at(-1)?.startedAt ?? '') : '';
  const fresh = head.runs.filter((run) => !known.has(run.executionId) && run.startedAt > last);
  const hasGap = head.hasMore && fresh.length > 0 && fresh.length === head.runs.length;
  return { rows: unique(rows), fresh, hasGap };
}

/** The pages with the new runs in their places, newest first. */
export function insertRuns(pages: readonly RunPage[], fresh: readonly ListedRun[]): RunPage[] {
  const [first, ...rest] = pages;
  if (!first) return [];
  const runs = [...fresh, ...first.runs].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  return [{ ...first, runs }, ...rest];
}

function unique(runs: ListedRun[]): ListedRun[] {
  return [...new Map(runs.map((run) => [run.executionId, run])).values()];
}

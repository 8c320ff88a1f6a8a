// The loaded list of runs, merged with a newer first page.
import type { components } from '../../api/schema.d.ts';

export type ListedRun = components['schemas']['ListedRun'];
export type RunPage = components['schemas']['ListedRuns'];

type Merged = {
  /** The runs to show, in the order in which they were loaded, with their current state. */
  rows: ListedRun[];
  /** New runs, newest first. They are not shown until the user asks for them. */
  fresh: ListedRun[];
  /** Whether runs may be missing between `fresh` and `rows`, so that the list has to be reloaded. */
  hasGap: boolean;
};

/**
 * Updates the loaded pages from a newer first page. Rows take its states; a row that it no longer has does not match
 * the filter any more and is dropped. Nothing is inserted above the rows being read.
 */
export function mergeRuns(pages: readonly RunPage[], head: RunPage | undefined): Merged {
  const loaded = pages.flatMap(({ runs }) => runs);
  if (!head) return { rows: unique(loaded), fresh: [], hasGap: false };
  const newest = new Map(head.runs.map((run) => [run.executionId, run]));
  const known = new Set(loaded.map(({ executionId }) => executionId));
  // The newer page covers the time since its oldest run, or everything when it is the only page.
  const oldest = head.hasMore ? head.runs.at(-1)?.startedAt : '';
  const rows = loaded.flatMap((run) => {
    const now = newest.get(run.executionId);
    if (now) return [now];
    return oldest !== undefined && run.startedAt > oldest ? [] : [run];
  });
  // Runs older than the last row come with the next page.
  const last = pages.at(-1)?.hasMore ? (loaded.at(-1)?.startedAt ?? '') : '';
  const fresh = head.runs.filter((run) => !known.has(run.executionId) && run.startedAt > last);
  const hasGap = head.hasMore && fresh.length > 0 && fresh.length === head.runs.length;
  return { rows: unique(rows), fresh, hasGap };
}

/** Inserts the new runs into the pages in order, newest first. */
export function insertRuns(pages: readonly RunPage[], fresh: readonly ListedRun[]): RunPage[] {
  const [first, ...rest] = pages;
  if (!first) return [];
  const runs = [...fresh, ...first.runs].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1));
  return [{ ...first, runs }, ...rest];
}

function unique(runs: ListedRun[]): ListedRun[] {
  return [...new Map(runs.map((run) => [run.executionId, run])).values()];
}

// The search parameters of the usage page. Invalid values are dropped.
const DAY_MS = 86_400_000;
const DAYS = { '7d': 7, '30d': 30, '90d': 90, '365d': 365 } as const;
const DIVISIONS = ['day', 'project', 'flow', 'version', 'model', 'key'] as const;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

type Range = keyof typeof DAYS;
export type Division = (typeof DIVISIONS)[number];
export type UsageSearch = {
  /** The range, counted back from today; 30 days by default. */
  range?: Range | undefined;
  /** The division of the table; by day by default. */
  by?: Division | undefined;
  /** The slug of a project to filter by. */
  project?: string | undefined;
};

/** Reads the search parameters from an address, which anyone may have written. */
export function readUsageSearch({ range, by, project }: Record<string, unknown>): UsageSearch {
  const division = DIVISIONS.find((known) => known === by);
  return {
    ...(typeof range === 'string' && Object.hasOwn(DAYS, range) && { range: range as Range }),
    ...(division && { by: division }),
    ...(typeof project === 'string' && SLUG.test(project) && { project }),
  };
}

/** Returns the first and last day of a range, in UTC, inclusive. */
export function daysOf(range: Range, now: number = Date.now()): { from: string; to: string } {
  return { from: toDay(now - (DAYS[range] - 1) * DAY_MS), to: toDay(now) };
}

/** Lists the days from the first to the last, inclusive. */
export function listDays({ from, to }: { from: string; to: string }): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) days.push(toDay(at));
  return days;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

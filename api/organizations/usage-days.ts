import { problem, validationError } from '../http/json-body.ts';

export const DAYS_DEFAULT = 30;
export const DAYS_MAX = 366;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Returns the first and last day of a usage query, both included. Throws VALIDATION_ERROR. */
export function usageDays({
  from,
  to = dayOf(Date.now()),
}: {
  from?: string | undefined;
  to?: string | undefined;
}) {
  const first = from ?? dayOf(Date.parse(to) - (DAYS_DEFAULT - 1) * DAY_MS);
  if (first > to) throw validationError(problem(['from'], 'must not be after to'));
  if (Date.parse(to) - Date.parse(first) >= DAYS_MAX * DAY_MS)
    throw validationError(problem(['from'], `must be less than ${DAYS_MAX} days before to`));
  return { from: first, to };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

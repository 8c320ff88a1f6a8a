import type { ServiceError } from '../../flow/errors.ts';
import { invalidField } from './invalid-field.ts';

/**
 * Makes a page of `limit` rows. `rows` has one more row when there is another page, which begins after the `cursorOf`
 * the last row.
 */
export function toPage<Row>(rows: Row[], limit: number, cursorOf: (row: Row) => string) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { page, end: { hasMore, nextCursor: hasMore && last ? cursorOf(last) : null } };
}

/** Makes the 422 for a cursor that this list did not issue. */
export function unknownCursor(): ServiceError {
  return invalidField('cursor', 'must be a nextCursor of this list');
}

import pg from 'pg';

/** Whether the database will never store a value (too large, not a number, U+0000 in a text): repeating does not help. */
export function isUnstorableValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '');
}

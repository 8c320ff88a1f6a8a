import pg from 'pg';

/**
 * Whether the database can never store a value (too large, not a number, U+0000 in a text), so that repeating does
 * not help.
 */
export function isUnstorableValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '');
}

import pg from 'pg';

/** Whether the database takes a value in no case (too large, not a number, U+0000 in a text): repeating it is no help. */
export function isUnstorableValue(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '');
}

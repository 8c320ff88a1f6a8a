import pg from 'pg';

/**
 * Whether PostgreSQL rolled a transaction back in favour of another (serialization failure, deadlock), so that it can
 * be repeated.
 */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40(001|P01)$/.test(error.code ?? '');
}

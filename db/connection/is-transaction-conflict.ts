import pg from 'pg';

/** Serialization failure and deadlock: PostgreSQL has undone the transaction for the sake of another, to be repeated. */
export function isTransactionConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^40(001|P01)$/.test(error.code ?? '');
}

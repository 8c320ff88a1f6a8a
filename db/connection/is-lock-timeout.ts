import pg from 'pg';

const LOCK_NOT_AVAILABLE = '55P03';

/** Whether a statement did not get a lock within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

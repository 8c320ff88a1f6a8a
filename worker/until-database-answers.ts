import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../db/connect.ts';

const ASK_AGAIN_MS = 2_000;

/**
 * Resolves once the database answers, or the signal aborts. A worker that asked for work before, with a wrong password for
 * instance, would hold up what other workers could carry out. The pool logs that the database is away.
 */
export async function untilDatabaseAnswers(db: Db, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    try {
      await sql`select 1`.execute(db);
      return;
    } catch {
      await sleep(ASK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

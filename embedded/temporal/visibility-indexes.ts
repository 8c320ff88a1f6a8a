// The indexes that Temporal's visibility records keep in SQLite.
import { DatabaseSync } from 'node:sqlite';

const LOCK_TIMEOUT_MS = 2_000;

/**
 * Those of the columns that Weir's workflows are searched by. A search attribute has a column of its type, `keyword_01` to
 * `keyword_10` and `int_01` to `int_03`, and Temporal picks any that is free. The index of the namespace division is not among
 * them: every search asks for workflows without one, which all of Weir's are, and SQLite would take it for the best index and
 * look at all of them, also for a search by id.
 */
const KEPT = /^(default_idx|by_(workflow_id|workflow_type|status|keyword_\d+|int_\d+))$/;

/**
 * Drops the other indexes; most of their columns stay empty. Temporal makes 58 with a new `file`, and writes each run into every
 * one: without 41 of them it takes a fifth less time (docs/performance.md). A search by another column alone may look at all
 * workflows. Throws where SQLite cannot.
 */
export function dropUnusedIndexes(file: string): void {
  const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    const indexes = database
      .prepare(
        "select name from sqlite_schema where type = 'index' and tbl_name = 'executions_visibility' and sql is not null",
      )
      .all();
    const unused = indexes.map(({ name }) => String(name)).filter((name) => !KEPT.test(name));
    if (unused.length === 0) return;
    database.exec(`begin immediate; ${unused.map((name) => `drop index "${name}";`).join(' ')} commit`);
  } finally {
    database.close();
  }
}

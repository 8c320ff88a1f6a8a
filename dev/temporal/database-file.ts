// The SQLite file of a local Temporal server. The server takes every database file for a complete one, so a marker stands beside
// the file until it is complete; a file that a power loss or a kill left unfinished is begun anew.
import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SEARCH_ATTRIBUTES } from '../../flow/run.ts';

const INDEX_LOCK_TIMEOUT_MS = 2_000;

/**
 * The indexes that searches for Weir's workflows use. The index of the namespace division is not kept: every search asks for
 * workflows without a division, as all of Weir's are, so SQLite would choose that index and scan them all, even for a search by
 * id.
 */
const KEPT = /^(default_idx|by_(workflow_id|workflow_type|status))$/;

/** The indexes of search attributes: Temporal gives each attribute a free column of its type. */
const OF_ATTRIBUTE = /^by_((?:keyword|int)_\d+)$/;

const LOCK_TIMEOUT_MS = 2_000;

const markerOf = (file: string) => `${file}.unfinished`;

/** Removes an unfinished `file`, and marks a new one as unfinished. */
export function beginDatabase(file: string): void {
  const marker = markerOf(file);
  if (existsSync(marker)) for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  if (!existsSync(file)) writeFileSync(marker, '', { mode: 0o600 });
}

/** Makes SQLite write its log into a new `file` and complete the file. SQLite alone does so only at 4 MB of log. */
export function completeDatabase(file: string): void {
  const marker = markerOf(file);
  if (!existsSync(marker)) return;
  try {
    writeLog(file);
    rmSync(marker);
    const folder = openSync(path.dirname(file), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // With the marker the next start begins anew, from which Weir's rows recover too.
  }
}

function writeLog(file: string): void {
  const database = new DatabaseSync(file, { timeout: LOCK_TIMEOUT_MS });
  try {
    const outcome = database.prepare('pragma wal_checkpoint(full)').get();
    if (outcome?.busy !== 0) throw new Error('The database is in use.');
  } finally {
    database.close();
  }
}

/**
 * Reads from the `description` of a namespace (JSON of Temporal's CLI) which columns its search attributes have, such as
 * `keyword_01`; undefined where it does not say so of each that Weir has.
 */
export function readSearchColumns(description: string): string[] | undefined {
  try {
    const aliases: Record<string, string> = JSON.parse(description).config.customSearchAttributeAliases;
    const names = Object.values(aliases);
    if (!Object.keys(SEARCH_ATTRIBUTES).every((name) => names.includes(name))) return undefined;
    return Object.keys(aliases).map((column) => column.toLowerCase().replace(/\d+$/, '_$&'));
  } catch {
    return undefined;
  }
}

/**
 * Drops the other indexes; most of their columns stay empty. Temporal makes 58 with a new `file`, and writes each run into every
 * one: without 47 of them it takes a fifth less time (docs/performance.md). While it is not known which `columns` the search
 * attributes have, the indexes of all that they may have are kept. A search by another column alone may look at all workflows.
 * Throws where SQLite cannot.
 */
export function dropUnusedIndexes(file: string, columns?: string[]): void {
  const isUsed = (index: string) => {
    const [, column] = OF_ATTRIBUTE.exec(index) ?? [];
    return column ? (columns?.includes(column) ?? true) : KEPT.test(index);
  };
  const database = new DatabaseSync(file, { timeout: INDEX_LOCK_TIMEOUT_MS });
  try {
    const indexes = database
      .prepare(
        "select name from sqlite_schema where type = 'index' and tbl_name = 'executions_visibility' and sql is not null",
      )
      .all();
    const unused = indexes.map(({ name }) => String(name)).filter((name) => !isUsed(name));
    if (unused.length === 0) return;
    database.exec(`begin immediate; ${unused.map((name) => `drop index "${name}";`).join(' ')} commit`);
  } finally {
    database.close();
  }
}

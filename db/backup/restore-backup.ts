// Restores a backup in one transaction: afterwards the database has all of it, or is as it was.
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { connect, type Tx } from '../connect.ts';
import { migrate, migrateTo } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { FIND_TIMEOUTS } from '../without-timeouts.ts';
import type { End, Manifest } from './backup-format.ts';
import { dropEverything } from './drop-everything.ts';
import { listTables } from './list-tables.ts';
import { checkBackup, readRows } from './read-backup.ts';
import { renumberRecorded } from './renumber-recorded.ts';
import { withoutChecks } from './without-checks.ts';
import type { Progress } from './write-backup.ts';

/** Connections that were just closed are listed for a moment. */
const PATIENCE_MS = 2_000;

type Restored = { takenAt: string; rows: { [table: string]: number }; migrated: string[] };

/**
 * Restores a backup into a database without rows, or, with `replace`, into one whose rows it deletes. The schema is made as it
 * was at the backup, and then brought up to date. Throws, with nothing changed, when the file is not whole, when it was made
 * by a newer version, or while others are connected to the database.
 */
export async function restoreBackup(
  databaseUrl: string,
  file: string,
  { replace = false, progress = () => undefined }: { replace?: boolean; progress?: Progress } = {},
): Promise<Restored> {
  const { manifest, end } = await checkBackup(file);
  const client = new pg.Client({ connectionString: databaseUrl });
  // The statement under way fails too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await onOneConnection(client, async (tx) => {
      const { rows } = await client.query<{ lift: string }>(FIND_TIMEOUTS);
      await client.query(rows[0]?.lift ?? '');
      await requireAlone(client);
      if (!replace) await requireNoRows(client);
      await dropEverything(client);
      await makeSchema(tx, client, manifest);
      await withoutChecks(client, async () => {
        await copyRows(client, file, manifest, progress);
        await renumberRecorded(client);
      });
      await checkCounts(client, manifest, end);
      await setSequences(client, end);
    });
  } finally {
    await client.end();
  }
  const db = connect(databaseUrl, 2);
  try {
    return { takenAt: manifest.takenAt, rows: end.rows, migrated: await migrate(db) };
  } finally {
    await db.destroy();
  }
}

/** Runs a transaction in which Kysely and `client` itself talk to the database in turn. */
async function onOneConnection(client: pg.Client, work: (tx: Tx) => Promise<void>): Promise<void> {
  const connection = { query: client.query.bind(client), release: () => undefined };
  const pool = { connect: async () => connection, end: async () => undefined };
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as never }) });
  await db.transaction().execute(work);
}

async function requireAlone(client: pg.Client): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const others = await countOthers(client);
    if (others === 0) return;
    if (performance.now() > giveUpAt)
      throw new Error(
        `${others} other connections to the database are open. Stop all processes of Weir, and whatever else uses it.`,
      );
    await sleep(PATIENCE_MS / 10);
    // A transaction would be told the same again.
    await client.query('select pg_stat_clear_snapshot()');
  }
}

async function countOthers(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ others: number }>(`
    select count(*)::int as others from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
      -- What other users' sessions are is hidden from those who may not see it.
      and coalesce(backend_type, 'client backend') = 'client backend'`);
  return rows[0]?.others ?? 0;
}

async function requireNoRows(client: pg.Client): Promise<void> {
  for (const { name } of await listTables(client)) {
    const { rowCount } = await client.query(`select from ${client.escapeIdentifier(name)} limit 1`);
    if (rowCount)
      throw new Error(
        `The database is not empty: table ${name} has rows. Restore into a new database, or delete all that it has (--replace).`,
      );
  }
}

async function makeSchema(tx: Tx, client: pg.Client, { migrations, tables }: Manifest): Promise<void> {
  await migrateTo(tx, migrations);
  const columnsOf = new Map((await listTables(client)).map(({ name, columns }) => [name, new Set(columns)]));
  for (const { name, columns } of tables)
    for (const column of columns)
      if (!columnsOf.get(name)?.has(column))
        throw new Error(`The backup has ${name}.${column}, which the migrations that it names do not make.`);
}

async function copyRows(
  client: pg.Client,
  file: string,
  { tables }: Manifest,
  progress: Progress,
): Promise<void> {
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]));
  let copying:
    | { table: string; bytes: number; copy: ReturnType<typeof copyFrom>; done: Promise<void> }
    | undefined;
  const end = async () => {
    copying?.copy.end();
    await copying?.done;
  };
  try {
    for await (const { table, rows } of readRows(file)) {
      if (copying?.table !== table) {
        await end();
        const columns = (columnsOf.get(table) ?? []).map((name) => client.escapeIdentifier(name)).join(', ');
        const copy = client.query(copyFrom(`copy ${client.escapeIdentifier(table)} (${columns}) from stdin`));
        copying = { table, bytes: 0, copy, done: finished(copy) };
        // Heard by the next write, or at the end.
        copying.done.catch(() => undefined);
      }
      copying.bytes += rows.length;
      if (!copying.copy.write(rows)) await Promise.race([once(copying.copy, 'drain'), copying.done]);
      progress(table, copying.bytes);
    }
    await end();
  } catch (error) {
    // While the database waits for rows, it takes no rollback.
    copying?.copy.destroy();
    throw error;
  }
}

async function checkCounts(client: pg.Client, { tables }: Manifest, { rows }: End): Promise<void> {
  for (const { name } of tables) {
    const { rows: counted } = await client.query<{ count: string }>(
      `select count(*) from ${client.escapeIdentifier(name)}`,
    );
    const count = Number(counted[0]?.count);
    if (count !== rows[name])
      throw new Error(`Table ${name} has ${count} rows after the restore; the backup has ${rows[name]}.`);
  }
}

async function setSequences(client: pg.Client, { sequences }: End): Promise<void> {
  for (const { table, column, last } of sequences)
    if (last !== '0')
      await client.query('select setval(pg_get_serial_sequence(quote_ident($1), $2), $3)', [
        table,
        column,
        last,
      ]);
}

// Restores a backup in one transaction: afterwards the database has all of it, or is as it was. pg_restore itself could not drop
// and renumber in that transaction, so it only reads the file, and psql carries it out.

import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { connect } from '../connect.ts';
import { listReleaseMigrations } from '../list-migrations.ts';
import { migrate } from '../migrate.ts';
import { LIFT_TIMEOUTS } from '../without-timeouts.ts';
import { programEnvironment, requirePrograms, startProgram } from './postgres-programs.ts';

/** Connections that were just closed are listed for a moment. */
const PATIENCE_MS = 2_000;
const TRANSACTION_TIMEOUT = 'SET transaction_timeout = 0;\n';

/** Drops all that migrations make. Indexes, triggers and sequences go with their tables; extensions stay. */
const DROP_EVERYTHING = `
  do $$ declare statement text; begin
    for statement in
      select format('drop table if exists %I cascade', relname) from pg_class
        where relnamespace = current_schema()::regnamespace and relkind = 'r'
      union all
      select format('drop routine if exists %s cascade', oid::regprocedure) from pg_proc
        where pronamespace = current_schema()::regnamespace
          and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    loop execute statement; end loop;
  end $$;`;

/**
 * Renumbers `recorded` of the block executions of unfinished runs, in the old order and below all future values of this server.
 * Old values are transaction ids of the backed-up server. A new server begins near 750, so a reader at an old value would miss
 * all later block executions. Ended runs keep their values, so that only a small part of the largest table is rewritten.
 */
const RENUMBER_RECORDED = `
  with placed as (
    select block.execution_id, block.block_key, row_number() over (
      partition by root.execution_id order by block.recorded desc, block.finished_at desc
    ) as place
    from run root
    join run call on root.execution_id = coalesce(call.continues, call.execution_id)
    join block_run block on block.execution_id = call.execution_id
    -- A session may go on after its end.
    where root.mode = 'step' or root.status not in ('completed', 'failed')
  )
  -- The oldest blocks of a run with more blocks than this server has made transactions share a number.
  update block_run set recorded = greatest(1, pg_current_xact_id()::text::bigint - place)::text::xid8
  from placed
  where block_run.execution_id = placed.execution_id and block_run.block_key = placed.block_key;
  update block_under_way set recorded = '1';`;

/**
 * Restores a backup into a database without rows, or, with `replace`, into one whose contents it deletes. Brings the schema
 * up to date afterwards and returns the migrations it applied. Throws, with nothing changed, when the file is not whole, when
 * a newer release made it, or while others are connected to the database.
 */
export async function restoreBackup(
  databaseUrl: string,
  file: string,
  { replace = false } = {},
): Promise<{ migrated: string[] }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const target = await checkTarget(client, file, replace).finally(() => client.end());
  await load(databaseUrl, file, target);
  const db = connect(databaseUrl, 2);
  try {
    return { migrated: await migrate(db) };
  } finally {
    await db.destroy();
  }
}

type Target = { schema: string; version: number };

async function checkTarget(client: pg.Client, file: string, replace: boolean): Promise<Target> {
  await requirePrograms(['pg_restore', 'psql'], client);
  await requireKnownMigrations(file);
  await requireAlone(client);
  if (!replace) await requireNoRows(client);
  const { rows } = await client.query<Target>(
    `select current_schema() as schema, current_setting('server_version_num')::int as version`,
  );
  return rows[0] as Target;
}

/** Checks the migrations of a backup. Throws for a file that is no backup of Weir, and for a migration that this release lacks. */
async function requireKnownMigrations(file: string): Promise<void> {
  const args = ['--data-only', '--table=kysely_migration', '--file=-', file];
  const { stdin, stdout, done } = startProgram('pg_restore', args);
  stdin.end();
  const [rows] = await Promise.all([text(stdout), done]).catch((error: unknown) =>
    cannotRestore(file, error),
  );
  const [, copied = ''] = /^COPY [^\n]*\n(.*?)^\\\.$/ms.exec(rows) ?? [];
  const migrations = copied.split('\n').flatMap((line) => line.split('\t')[0] || []);
  if (migrations.length === 0) cannotRestore(file, new Error('it is not a backup of Weir'));
  const known = await listReleaseMigrations();
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    cannotRestore(
      file,
      new Error(`this release does not know migration ${unknown.join(', ')}: a newer one made it`),
    );
}

function cannotRestore(file: string, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(`${file} cannot be restored: ${reason}. Nothing was changed.`, { cause: error });
}

/** Has psql carry out what pg_restore reads from the file, in one transaction with what comes before and after. */
async function load(databaseUrl: string, file: string, { schema, version }: Target): Promise<void> {
  const args = ['--no-psqlrc', '--quiet', '--output=/dev/null', '--set=ON_ERROR_STOP=1'];
  const psql = startProgram('psql', args, programEnvironment(databaseUrl));
  const archive = startProgram('pg_restore', [
    '--no-owner',
    '--no-privileges',
    `--schema=${schema}`,
    '--file=-',
    file,
  ]);
  archive.stdin.end();
  psql.stdout.resume();
  psql.stdin.write(`${LIFT_TIMEOUTS};\nbegin;\n${DROP_EVERYTHING}\n`);
  const script = pipeline(archive.stdout, forServer(version), psql.stdin, { end: false });
  const written = Promise.all([script, archive.done]).then(
    () =>
      psql.stdin.end(`set search_path = ${pg.escapeIdentifier(schema)};\n${RENUMBER_RECORDED}\ncommit;\n`),
    (error: unknown) => {
      // Without the commit, psql leaves the database as it was.
      psql.stdin.destroy();
      throw error;
    },
  );
  const [loaded, read] = await Promise.allSettled([psql.done, written]);
  if (loaded.status === 'rejected') cannotRestore(file, loaded.reason);
  if (read.status === 'rejected') cannotRestore(file, read.reason);
}

/** Leaves out a setting that pg_restore 17 and newer send to every server, and that older servers do not know. */
function forServer(version: number) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let at = version < 170_000 ? 0 : -1;
    for await (const chunk of chunks) {
      // It is among the first lines.
      if (at === 0) at = chunk.indexOf(TRANSACTION_TIMEOUT);
      yield at > 0
        ? Buffer.concat([chunk.subarray(0, at), chunk.subarray(at + TRANSACTION_TIMEOUT.length)])
        : chunk;
      at = -1;
    }
  };
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
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and relpersistence = 'p' and relname not like 'kysely%'
    order by relname`);
  for (const { name } of rows) {
    const { rowCount } = await client.query(`select from ${client.escapeIdentifier(name)} limit 1`);
    if (rowCount)
      throw new Error(
        `The database is not empty: table ${name} has rows. Restore into a new database, or delete all that it has (--replace).`,
      );
  }
}

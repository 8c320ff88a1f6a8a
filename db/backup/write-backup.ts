import { existsSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import pg from 'pg';
import { listAppliedMigrations } from '../list-migrations.ts';
import { programEnvironment, requirePrograms, startProgram } from './postgres-programs.ts';

/** `takenAt`: everything committed by then is in the backup. */
type Written = { takenAt: string; migrations: string[] };

/**
 * Writes the schema of Weir and its rows to a new file, by pg_dump in its custom format. The file has its name once it is
 * whole, and only its owner can read it. Throws where the file exists, and where pg_dump cannot be used.
 */
export async function writeBackup(databaseUrl: string, file: string): Promise<Written> {
  if (existsSync(file))
    throw new Error(`${file} exists already. Name another file, or delete that one first.`);
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const { takenAt, schema, migrations } = await describeDatabase(client).finally(() => client.end());
  const draft = `${file}.partial`;
  await createDraft(file, draft);
  const remove = () => rmSync(draft, { force: true });
  process.once('exit', remove);
  try {
    const args = ['--format=custom', '--no-unlogged-table-data', `--schema="${schema}"`, `--file=${draft}`];
    await startProgram('pg_dump', args, programEnvironment(databaseUrl)).done;
    await rename(draft, file);
    return { takenAt, migrations };
  } finally {
    remove();
    process.off('exit', remove);
  }
}

async function describeDatabase(client: pg.Client) {
  await requirePrograms(['pg_dump'], client);
  const { rows } = await client.query<{ now: Date; schema: string }>(
    'select now() as now, current_schema() as schema',
  );
  const { now = new Date(), schema = 'public' } = rows[0] ?? {};
  const migrations = await listAppliedMigrations(client);
  if (migrations.length === 0)
    throw new Error('The database has no schema of Weir: there is nothing to back up.');
  return { takenAt: now.toISOString(), schema, migrations };
}

/** Problems with a new file that a person can do something about, by error code. */
const UNWRITABLE: { [code: string]: string } = {
  ENOENT: 'cannot be written: its folder does not exist',
  EACCES: 'cannot be written: you may not write to its folder',
  EEXIST: 'is being written by another backup, or one was cut off. Wait, or delete the .partial file',
};

async function createDraft(file: string, draft: string): Promise<void> {
  try {
    await (await open(draft, 'wx', 0o600)).close();
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} ${UNWRITABLE[code] ?? `cannot be written: ${message}`}.`, { cause: error });
  }
}

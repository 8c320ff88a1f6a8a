// Writes a backup beside a running service: one snapshot of all tables, in bounded memory.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { listAppliedMigrations } from '../list-migrations.ts';
import { FIND_TIMEOUTS } from '../without-timeouts.ts';
import {
  BACKUP_FORMAT,
  BACKUP_VERSION,
  END_FILE,
  type End,
  MANIFEST_FILE,
  type Manifest,
} from './backup-format.ts';
import { listTables, requireAttachedPartitions, type Table } from './list-tables.ts';
import { TAR_END, tarEntry } from './tar-entries.ts';

/** Rows are gathered up to this size; one row may be larger. */
const ENTRY_BYTES = 8 * 1024 ** 2;
/** Half the time of the default, for a tenth more bytes. */
const GZIP_LEVEL = 3;
const LINE_FEED = 0x0a;
const SEQUENCES = `
  select c.relname as table, a.attname as column, coalesce(s.last_value, 0)::text as last
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
    join pg_sequences s on format('%I.%I', s.schemaname, s.sequencename) =
      pg_get_serial_sequence(quote_ident(c.relname), a.attname)
  where c.relnamespace = current_schema()::regnamespace and not c.relispartition and s.schemaname = current_schema()`;

type Append = (name: string, body: Buffer) => Promise<void>;
/** Receives the number of uncompressed bytes of a table written so far. */
export type Progress = (table: string, bytes: number) => void;

/**
 * Writes all tables, as they are at one moment, to a new file that its owner alone can read. The file has its name only
 * once it is whole and on disk; until then it is `<file>.partial`. Throws when a file of either name exists.
 */
export async function writeBackup(
  databaseUrl: string,
  file: string,
  progress: Progress = () => undefined,
): Promise<{ takenAt: string; rows: { [table: string]: number }; migrations: string[] }> {
  if (existsSync(file))
    throw new Error(`${file} exists already. Name another file, or delete that one first.`);
  const draft = `${file}.partial`;
  const archive = createArchive(await createDraft(file, draft));
  const client = new pg.Client({ connectionString: databaseUrl });
  // The statement under way fails too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const written = await writeSnapshot(client, archive.append, progress);
    await archive.end();
    await rename(draft, file);
    return written;
  } catch (error) {
    archive.destroy();
    await rm(draft, { force: true });
    throw error;
  } finally {
    await client.end();
  }
}

/** Problems with a new file that a person can do something about, by error code. */
const UNWRITABLE: { [code: string]: string } = {
  ENOENT: 'cannot be written: its folder does not exist',
  EACCES: 'cannot be written: you may not write to its folder',
  EEXIST: 'is being written by another backup, or one was cut off. Wait, or delete the .partial file',
};

async function createDraft(file: string, draft: string): Promise<FileHandle> {
  try {
    return await open(draft, 'wx', 0o600);
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} ${UNWRITABLE[code] ?? `cannot be written: ${message}`}.`, { cause: error });
  }
}

function createArchive(file: FileHandle) {
  const gzip = createGzip({ level: GZIP_LEVEL });
  const output = file.createWriteStream({ flush: true });
  const written = finished(output);
  // Whoever waits for room or for the end hears of it.
  written.catch((error) => gzip.destroy(error));
  gzip.on('error', () => undefined);
  gzip.pipe(output);
  async function write(bytes: Buffer): Promise<void> {
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written]);
  }
  return {
    async append(name: string, body: Buffer) {
      for (const bytes of tarEntry(name, body, new Date())) await write(bytes);
    },
    async end() {
      gzip.end(TAR_END);
      await written;
    },
    destroy() {
      gzip.destroy();
      output.destroy();
    },
  };
}

async function writeSnapshot(client: pg.Client, append: Append, progress: Progress) {
  const tables = await listTables(client);
  requireAttachedPartitions(tables);
  if ((await listAppliedMigrations(client)).length === 0)
    throw new Error('The database has no schema of Weir: there is nothing to back up.');
  const { rows: timeouts } = await client.query<{ lift: string }>(FIND_TIMEOUTS);
  await client.query(`begin isolation level repeatable read read only; ${timeouts[0]?.lift}`);
  // Taken before the snapshot, so that no migration changes a table in between.
  const names = tables.map(({ name }) => client.escapeIdentifier(name)).join(', ');
  await client.query(`lock table ${names} in access share mode`);
  const { rows: now } = await client.query<{ now: Date }>('select now()');
  const takenAt = (now[0]?.now ?? new Date()).toISOString();
  if (JSON.stringify(await listTables(client)) !== JSON.stringify(tables))
    throw new Error('A migration changed the tables at this moment: repeat the backup.');
  const migrations = await listAppliedMigrations(client);
  const manifest: Manifest = { format: BACKUP_FORMAT, version: BACKUP_VERSION, takenAt, migrations, tables };
  await append(MANIFEST_FILE, Buffer.from(JSON.stringify(manifest, null, 2)));
  const rows: End['rows'] = {};
  for (const table of tables) rows[table.name] = await writeTable(client, table, append, progress);
  // Read last, since sequences are not part of a snapshot: they are at least what its rows have.
  const { rows: sequences } = await client.query<End['sequences'][number]>(SEQUENCES);
  await append(END_FILE, Buffer.from(JSON.stringify({ rows, sequences } satisfies End, null, 2)));
  await client.query('commit');
  return { takenAt, rows, migrations };
}

/** Writes the rows of a table in entries of whole rows; returns how many rows. */
async function writeTable(
  client: pg.Client,
  { name, columns }: Table,
  append: Append,
  progress: Progress,
): Promise<number> {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  // A query, since COPY of the table itself would leave out partitions.
  const rows = client.query(copyTo(`copy (select ${list} from ${client.escapeIdentifier(name)}) to stdout`));
  let gathered: Buffer[] = [];
  let bytes = 0;
  let entries = 0;
  let total = 0;
  const flush = async (body: Buffer) => {
    entries += 1;
    total += body.length;
    await append(`${name}/${String(entries).padStart(6, '0')}.copy`, body);
    progress(name, total);
  };
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    gathered.push(chunk);
    bytes += chunk.length;
    // COPY writes line feeds between rows only: those in values are escaped.
    if (bytes < ENTRY_BYTES || !chunk.includes(LINE_FEED)) continue;
    const all = Buffer.concat(gathered);
    const cut = all.lastIndexOf(LINE_FEED) + 1;
    await flush(all.subarray(0, cut));
    gathered = [all.subarray(cut)];
    bytes = all.length - cut;
  }
  if (bytes > 0) await flush(Buffer.concat(gathered));
  return rows.rowCount;
}

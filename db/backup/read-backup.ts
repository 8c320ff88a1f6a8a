import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { END_FILE, type End, MANIFEST_FILE, type Manifest, readEnd, readManifest } from './backup-format.ts';
import { readTarEntries, type TarEntry } from './tar-entries.ts';

/** The rows of a table, in the text form of COPY; those of one table come one after the other. */
type Rows = { table: string; rows: Buffer };

/** Reads a backup to its end. Throws an Error with the cause if the backup is incomplete or damaged. */
export async function checkBackup(file: string): Promise<{ manifest: Manifest; end: End }> {
  let manifest: Manifest | undefined;
  let end: End | undefined;
  try {
    for await (const { name, body } of readEntries(file)) {
      if (manifest === undefined) manifest = readManifest(name === MANIFEST_FILE ? body : Buffer.alloc(0));
      else if (name === END_FILE) end = readEnd(body);
    }
    if (!manifest || !end) throw new Error('it ends before its end: it was cut off');
    return { manifest, end };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code?.startsWith('Z_') ? `it is damaged, cut off, or not a backup (${message})` : message;
    throw new Error(`${file} cannot be restored: ${reason}. Nothing was changed.`, { cause: error });
  }
}

/** Reads the rows of a backup that was checked. */
export async function* readRows(file: string): AsyncGenerator<Rows> {
  for await (const { name, body } of readEntries(file)) {
    const [, table] = /^([^/]+)\/\d+\.copy$/.exec(name) ?? [];
    if (table !== undefined) yield { table, rows: body };
  }
}

async function* readEntries(file: string): AsyncGenerator<TarEntry> {
  const gunzip = createGunzip();
  const piping = pipeline(createReadStream(file), gunzip);
  // Its error is that of gunzip, which the reader of the entries gets.
  piping.catch(() => undefined);
  try {
    yield* readTarEntries(gunzip);
    await piping;
  } finally {
    gunzip.destroy();
  }
}

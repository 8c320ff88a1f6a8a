// A backup: a gzipped tar archive of manifest.json, of the rows of each table as COPY writes them (`<table>/000001.copy`, and
// so on: whole rows, some megabytes each), and of end.json, by which a whole backup is known.
import { z } from 'zod';

export const BACKUP_FORMAT = 'weir-backup';
export const BACKUP_VERSION = 1;
export const MANIFEST_FILE = 'manifest.json';
export const END_FILE = 'end.json';

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  version: z.number(),
  /** When the snapshot was taken: what was committed later is not in the backup. */
  takenAt: z.string(),
  migrations: z.array(z.string()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
});
const end = z.object({
  rows: z.record(z.string(), z.number()),
  /** The last values of identity columns. */
  sequences: z.array(z.object({ table: z.string(), column: z.string(), last: z.string() })),
});
export type Manifest = z.infer<typeof manifest>;
export type End = z.infer<typeof end>;

/** Reads manifest.json. Throws an Error when the file is not a backup, or one of a newer format. */
export function readManifest(body: Buffer): Manifest {
  const parsed = manifest.safeParse(parseJson(body));
  if (!parsed.success) throw new Error('it is not an archive of weir backup');
  if (parsed.data.version > BACKUP_VERSION)
    throw new Error(
      'its format is newer than this version of Weir: restore it with the version that made it',
    );
  return parsed.data;
}

/** Reads end.json. */
export function readEnd(body: Buffer): End {
  return end.parse(parseJson(body));
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

import { promises as fs } from 'node:fs';
import path from 'node:path';

/** Lists the names of the migrations of this release. */
export async function listReleaseMigrations(): Promise<string[]> {
  const files = await fs.readdir(path.join(import.meta.dirname, 'migrations'));
  return files
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.basename(file, '.ts'))
    .toSorted();
}

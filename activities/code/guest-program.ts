// The guest's program as JavaScript. Without a compiler for types, a guest starts in half the processor time and takes a
// third less memory. main: makes that copy in a process of its own, so that the compiler's memory is freed.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { log } from '../../platform/observability/log.ts';

const SOURCES = import.meta.dirname;
const PROGRAM = path.join(SOURCES, 'guest.ts');
const DIST = path.join(path.dirname(path.dirname(SOURCES)), 'dist');
const IMPORT = /(?<=from '\.\/)(.+)\.ts(?=')/g;

let copying: Promise<string> | undefined;

/** Returns the path of the program: of its copy, which is made when it is missing, or of guest.ts where it cannot be made. */
export async function findGuestProgram(): Promise<string> {
  copying ??= provideCopy().catch((error: unknown) => {
    log.warn(
      { err: error },
      'No copy of the sandbox program can be kept in dist/: each sandbox process takes twice the time to start.',
    );
    return PROGRAM;
  });
  const copy = await copying;
  return existsSync(copy) ? copy : PROGRAM;
}

/** Returns the path of the copy of the sources as they are now. Those of other sources stay: a running service may need one. */
async function provideCopy(): Promise<string> {
  const copy = path.join(folderOf(readProgram()), 'sandbox', 'guest.js');
  if (!existsSync(copy)) await promisify(execFile)(process.execPath, [import.meta.filename]);
  return copy;
}

/** Reads guest.ts and the files of this folder that it imports: their text by name, without extension. */
function readProgram(name = 'guest', files = new Map<string, string>()): Map<string, string> {
  const source = readFileSync(path.join(SOURCES, `${name}.ts`), 'utf8');
  files.set(name, source);
  for (const [, imported = ''] of source.matchAll(IMPORT))
    if (!files.has(imported)) readProgram(imported, files);
  return files;
}

function folderOf(files: Map<string, string>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('hex');
  return path.join(DIST, `guest-${hash.slice(0, 16)}`);
}

if (process.argv[1] === import.meta.filename) {
  const files = readProgram();
  const folder = folderOf(files);
  // Renamed, so that nobody loads half a program.
  const draft = `${folder}.${process.pid}`;
  mkdirSync(path.join(draft, 'sandbox'), { recursive: true });
  for (const [name, source] of files)
    writeFileSync(
      path.join(draft, 'sandbox', `${name}.js`),
      stripTypeScriptTypes(source).replace(IMPORT, '$1.js'),
    );
  try {
    if (!existsSync(folder)) renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

// Builds the console into a folder, unless the folder was built from the same sources.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CONSOLE = path.dirname(import.meta.dirname);
/** The file in a build that holds the digest of its sources. */
const SOURCES_FILE = 'built-from';
const ATTEMPTS = 5;

/** Returns whether anything had to be built. Two builds at the same time both succeed; the last one stays. */
export async function buildConsole(target: string): Promise<boolean> {
  const sources = digestSources();
  if (readSources(target) === sources) return false;
  const built = `${target}.${process.pid}`;
  mkdirSync(path.dirname(target), { recursive: true });
  removeLeftovers(target);
  try {
    const { build } = await import('vite');
    await build({
      configFile: path.join(CONSOLE, 'vite.config.ts'),
      // Reads the configuration directly; the other loaders write a compiled copy into node_modules.
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: built, emptyOutDir: true },
    });
    writeFileSync(path.join(built, SOURCES_FILE), sources);
    replaceFolder(target, built);
    return true;
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

/** Hashes everything that a build reads: the console's files and the versions of its packages. */
function digestSources(): string {
  const hash = createHash('sha256');
  const files = globSync('**/*.*', { cwd: CONSOLE, exclude: ['node_modules', '**/*.d.ts', '*.md'] });
  for (const file of [...files.sort(), '../package-lock.json'])
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(CONSOLE, file)))
      .update('\0');
  return hash.digest('hex');
}

function readSources(target: string): string | undefined {
  try {
    return readFileSync(path.join(target, SOURCES_FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes the folders of builds that were killed: their names hold the id of a process that no longer runs. */
function removeLeftovers(target: string): void {
  const parent = path.dirname(target);
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(`${path.basename(target)}.`)) continue;
    const [, pid] = /\.(\d+)(?:\.old)?$/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Replaces a folder. Readers see the files of one build, and for a moment none. */
function replaceFolder(target: string, by: string): void {
  const old = `${by}.old`;
  for (let attempt = 1; ; attempt += 1)
    try {
      renameSync(by, target);
      return;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['ENOTEMPTY', 'EEXIST'].includes(code) || attempt === ATTEMPTS) throw error;
      moveAway(target, old);
    }
}

function moveAway(folder: string, to: string): void {
  try {
    renameSync(folder, to);
    rmSync(to, { recursive: true, force: true });
  } catch (error) {
    // Another build has just moved it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

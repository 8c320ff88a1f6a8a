// Our own Temporal development server, for a local start and for tests, on 127.0.0.1 only.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull, homedir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { SEARCH_ATTRIBUTES } from '../../flow/run.ts';
import { type Child, startChild } from '../processes/child.ts';
import { findFreePort } from '../processes/ports.ts';
import type { Report } from '../progress.ts';
import { getTemporalBinary } from './binary.ts';
import { beginDatabase, completeDatabase, dropUnusedIndexes, readSearchColumns } from './database-file.ts';
import { DYNAMIC_CONFIG, SQLITE_CONFIG } from './dynamic-config.ts';

const NAMESPACE = 'default';
const START_TIMEOUT_MS = 60_000;
const START_ATTEMPTS = 3;
const PROBE_TIMEOUT_MS = 2_000;
/** SQLite says this of a file that is not, or no longer, Temporal's database. */
const DAMAGED = /file is not a database|disk image is malformed|no such table/;

/** SQLite says this of a statement that belongs to a schema of another release. */
const OTHER_RELEASE = /no such column|has no column named/;

/**
 * WAL doubles the throughput of SQLite's default. With synchronous=normal, a transaction does not wait for the disk: a power loss
 * sets the server back by some seconds, from which Weir's rows recover (docs/operating/recovery.md). A statement waits for another
 * process's, such as a copy of the file that is being made.
 */
const sqlitePragmas = (durable: boolean) => [
  ...['journal_mode=wal', 'busy_timeout=5000'],
  `synchronous=${durable ? 'normal' : 'off'}`,
];

type TemporalOptions = {
  /** An existing folder for the SQLite file, log and process record. */
  stateFolder: string;
  /** Used when free; otherwise another one. */
  port?: number | undefined;
  uiPort?: number | undefined;
  /** False turns fsync off, for data that nobody will miss after a power loss. */
  durable?: boolean;
  /** A server that does not answer within this time is given up. */
  startTimeoutMs?: number;
  report?: Report;
  /** Gets the lines that stay. */
  note?: Report;
};

export type Temporal = {
  address: string;
  namespace: string;
  uiUrl: string;
  port: number;
  uiPort: number;
  child: Child;
  stop(): Promise<void>;
};

/** Starts the server on the SQLite file in the state folder. Throws an Error with the attempts or the end of the log. */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const binary = await getTemporalBinary(options);
  const file = databaseFile(options.stateFolder);
  beginDatabase(file);
  // In a large file this takes seconds, in which the server would have to wait.
  if (existsSync(file)) dropIndexes(file, options);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(options.port);
    const uiPort = await findFreePort(options.uiPort);
    options.report?.('waiting until it answers');
    const child = startServer(binary, options, port, uiPort);
    const address = `127.0.0.1:${port}`;
    const { problem, description = '' } = await describeNamespace(
      binary,
      child,
      address,
      options.startTimeoutMs ?? START_TIMEOUT_MS,
    );
    if (!problem) {
      dropIndexes(file, options, readSearchColumns(description));
      completeDatabase(file);
      const uiUrl = `http://127.0.0.1:${uiPort}`;
      return { address, namespace: NAMESPACE, uiUrl, port, uiPort, child, stop: child.stop };
    }
    // Before the stop, of which the server logs more than of its cause.
    const end = child.describeLog();
    await child.stop();
    // Another program may have taken the port in the meantime.
    if (attempt < START_ATTEMPTS && end.includes('address already in use')) continue;
    throw new Error(`The Temporal server ${problem}.${adviceOn(end, file)} ${end}`);
  }
}

const databaseFile = (stateFolder: string) => path.join(stateFolder, 'temporal.db');

function adviceOn(log: string, file: string): string {
  if (log.includes('database is locked'))
    return ` Another program has ${file} locked: end it, and start again.`;
  if (OTHER_RELEASE.test(log))
    return ` ${file} is of another release of Temporal: set WEIR_TEMPORAL_CLI to that one, or move the file away, and start again.`;
  if (!DAMAGED.test(log)) return '';
  return ` ${file} is damaged: move it away, and start again. Runs that had not ended begin anew.`;
}

/** The server works with all its indexes, only slower. It reports a damaged file itself. */
function dropIndexes(file: string, { report, note }: TemporalOptions, searchColumns?: string[]): void {
  try {
    report?.('dropping indexes that no search needs');
    dropUnusedIndexes(file, searchColumns);
  } catch (error) {
    if (!DAMAGED.test(String(error)))
      note?.(`The indexes of ${file} could not be dropped (${error}): with them Temporal is slower.`);
  }
}

function startServer(
  binary: string,
  { stateFolder, durable = true }: TemporalOptions,
  port: number,
  uiPort: number,
): Child {
  return startChild({
    stateFolder,
    name: 'temporal',
    order: 2,
    command: binary,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...['--port', String(port), '--ui-port', String(uiPort)],
      ...['--db-filename', databaseFile(stateFolder)],
      ...sqlitePragmas(durable).flatMap((pragma) => ['--sqlite-pragma', pragma]),
      ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
        '--search-attribute',
        `${name}=${type}`,
      ]),
      ...Object.entries({ ...DYNAMIC_CONFIG, ...SQLITE_CONFIG }).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${JSON.stringify(value)}`,
      ]),
    ],
    // Garbage is collected a fifth earlier, which saves 10 MB under load and costs no processor time that can be measured.
    env: { GOGC: '80', ...process.env },
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 15_000,
  });
}

/**
 * Waits until the server knows its namespace. Returns its description as JSON, or what went wrong. The CLI asks: its memory is
 * free again afterwards, whereas the SDK's client would stay in the process that asks.
 */
async function describeNamespace(
  binary: string,
  child: Child,
  address: string,
  timeoutMs: number,
): Promise<{ description?: string; problem?: string }> {
  const question = [
    ...['operator', 'namespace', 'describe', '--namespace', NAMESPACE, '--output', 'json'],
    ...['--address', address, '--env-file', devNull],
  ];
  const deadline = performance.now() + timeoutMs;
  while (!child.hasExited()) {
    try {
      const { stdout } = await promisify(execFile)(binary, question, {
        timeout: PROBE_TIMEOUT_MS,
        killSignal: 'SIGKILL',
        env: withoutProfiles(process.env),
      });
      return { description: stdout };
    } catch (error) {
      if (performance.now() > deadline)
        return { problem: `did not answer within ${timeoutMs / 1000} s: ${describeProbe(error)}` };
    }
    await sleep(100);
  }
  return { problem: await child.exited };
}

/** Describes a question that failed, as the end of a sentence: the error's own message begins with all its arguments. */
function describeProbe(error: unknown): string {
  const { stderr = '', killed, message } = error as Error & { stderr?: string; killed?: boolean };
  if (killed) return `the last question took longer than ${PROBE_TIMEOUT_MS / 1000} s`;
  return (stderr.trim() || message).split('\n').at(-1)?.replace(/\.$/, '') ?? '';
}

/** Returns variables with which the CLI asks the address that it is given, without the user's profiles and credentials. */
function withoutProfiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  // It does not start without a home folder.
  return { HOME: homedir(), ...Object.fromEntries(others), TEMPORAL_CONFIG_FILE: devNull };
}

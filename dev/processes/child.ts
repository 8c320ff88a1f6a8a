// One process of a local start: in its own group, recorded so that any later process can end it, with a log file that starts
// anew when it grows large.
import { spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { readableLine } from '../../platform/observability/log.ts';
import { endProcess, killGroup, type ProcessRecord, processStartTime } from './end-process.ts';

const MAX_BYTES = 10 * 1024 * 1024;
const CHECK_MS = 10_000;

const TAIL_LINES = 15;

/** More than all the lines that follow a panic. */
const TAIL_BYTES = 1024 * 1024;

/** How a program in Go begins to say that it panicked: what led to it comes before, and then hundreds of lines of its stack. */
const PANIC = /^(panic|fatal error): /;

type ChildLog = {
  /** For the process to append to. */
  descriptor: number;
  /** Returns the last lines since it was opened, or those around a panic. */
  tail(): string;
  /** Ends the checks of its size. */
  leave(): void;
};

type ChildSpec = Pick<ProcessRecord, 'name' | 'order' | 'stopSignal' | 'stopTimeoutMs'> & {
  stateFolder: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  /** The account it runs as; the caller's when absent. */
  account?: { uid: number; gid: number } | undefined;
};

export type Child = {
  pid: number;
  logFile: string;
  /** Resolves with how it ended, e.g. `ended with code 1`. */
  exited: Promise<string>;
  hasExited(): boolean;
  /** The last lines that this process has logged, or those around a panic; those of earlier ones are not among them. */
  logTail(): string;
  /** The same as the last sentence of a message: it names the file, and says so where nothing was logged. */
  describeLog(): string;
  /** Asks it to end and waits until it has ended; kills it after `stopTimeoutMs`. */
  stop(): Promise<void>;
};

/** Starts a process. Its output goes to `logs/<name>.log` in the state folder, its record to `run/`. */
export function startChild(spec: ChildSpec): Child {
  const logFile = path.join(spec.stateFolder, 'logs', `${spec.name}.log`);
  const recordFolder = path.join(spec.stateFolder, 'run');
  for (const folder of [path.dirname(logFile), recordFolder])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = openLog(logFile);
  const child = spawn(spec.command, spec.args, {
    cwd: spec.account ? '/' : undefined,
    env: spec.env ?? process.env,
    stdio: ['ignore', log.descriptor, log.descriptor],
    // In its own process group: Ctrl-C in a terminal reaches only the supervisor, which ends the rest in order.
    detached: true,
    ...spec.account,
  });
  closeSync(log.descriptor);
  let ended = false;
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`could not be started: ${error.message}`));
    child.on('exit', (code, signal) =>
      resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`),
    );
  }).finally(() => {
    ended = true;
    log.leave();
    rmSync(recordFile, { force: true });
  });
  const recordFile = path.join(recordFolder, `${child.pid}.json`);
  const record: ProcessRecord = {
    name: spec.name,
    order: spec.order,
    stopSignal: spec.stopSignal,
    stopTimeoutMs: spec.stopTimeoutMs,
    pid: child.pid ?? 0,
    startTime: child.pid ? (processStartTime(child.pid) ?? '') : '',
  };
  try {
    if (child.pid) writeFileSync(recordFile, JSON.stringify(record), { mode: 0o600 });
  } catch (error) {
    // Nobody would ever end it: without a record it is found no more.
    killGroup(record.pid);
    throw error;
  }
  return {
    pid: record.pid,
    logFile,
    exited,
    hasExited: () => ended,
    logTail: log.tail,
    describeLog: () => {
      const end = log.tail();
      return end === '' ? `It logged nothing in ${logFile}.` : `The end of ${logFile}:\n${end}`;
    },
    stop: async () => {
      if (!ended) await endProcess(record);
      await exited;
    },
  };
}

/** Opens a log at its end. The caller closes the descriptor. */
function openLog(file: string): ChildLog {
  const sizeOf = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const descriptor = openSync(file, 'a', 0o600);
  let from = sizeOf();
  const limit = () => {
    if (sizeOf() <= MAX_BYTES) return;
    truncateSync(file);
    from = 0;
  };
  limit();
  const timer = setInterval(limit, CHECK_MS).unref();
  return {
    descriptor,
    leave: () => clearInterval(timer),
    tail() {
      try {
        return lastLines(readFrom(file, Math.max(from, sizeOf() - TAIL_BYTES)));
      } catch (error) {
        // The caller has a process to end, even when its log is unreadable.
        return `The log cannot be read: ${error}`;
      }
    },
  };
}

function readFrom(file: string, position: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(TAIL_BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, { position }));
  } finally {
    closeSync(descriptor);
  }
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n');
  const panic = lines.findIndex((line) => PANIC.test(line));
  const end = panic < 0 ? lines.length : panic + 1 + TAIL_LINES / 3;
  return lines
    .slice(Math.max(0, end - TAIL_LINES), end)
    .map((line) => readableLine(line).trimEnd())
    .join('\n');
}

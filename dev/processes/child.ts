// One process of a local start: in its own group, recorded so that any later process can end it, with a log file that starts
// anew when it grows large.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openLog } from './child-log.ts';
import { endProcess, killGroup, type ProcessRecord } from './end-process.ts';
import { processStartTime } from './process-identity.ts';

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

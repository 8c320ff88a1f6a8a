// Ends the processes of a local start, including processes of an earlier, crashed start.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 50;

/** The content of `run/<pid>.json` in the state folder: a running process, the leader of its own group. */
export type ProcessRecord = {
  name: string;
  pid: number;
  startTime: string;
  /** Processes end in ascending order: dependents before their dependencies. */
  order: number;
  stopSignal: NodeJS.Signals;
  /** How long after `stopSignal` the process is killed. */
  stopTimeoutMs: number;
};

/** Asks one process to end, and kills its whole group when it does not in time. Does nothing when it is gone. */
export async function endProcess(record: ProcessRecord): Promise<void> {
  const isAlive = () => processStartTime(record.pid) === record.startTime;
  if (isAlive()) sendSignal(record.pid, record.stopSignal);
  const deadline = performance.now() + record.stopTimeoutMs;
  while (isAlive()) {
    if (performance.now() > deadline) killGroup(record.pid);
    await sleep(POLL_MS);
  }
}

/** Ends every process on record in a state folder and returns their names. */
export async function endRecordedProcesses(stateFolder: string): Promise<string[]> {
  const records = readRecords(stateFolder);
  for (const record of records) {
    await endProcess(record);
    rmSync(path.join(stateFolder, 'run', `${record.pid}.json`), { force: true });
  }
  return records.map((record) => record.name);
}

/** Kills every process on record at once. */
export function killRecordedProcesses(stateFolder: string): void {
  for (const record of readRecords(stateFolder)) killGroup(record.pid);
}

/** Reads the records of processes that still run, and removes the other records. */
function readRecords(stateFolder: string): ProcessRecord[] {
  const folder = path.join(stateFolder, 'run');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((file) => readRunning(path.join(folder, file)) ?? [])
    .sort((a, b) => a.order - b.order);
}

function readRunning(file: string): ProcessRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as ProcessRecord;
    if (processStartTime(record.pid) === record.startTime) return record;
  } catch (error) {
    // A crash may have cut the file short, and the process may have just removed it; anything else is an error.
    if (!(error instanceof SyntaxError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  rmSync(file, { force: true });
  return undefined;
}

/** Kills the process `leader` and its whole group. */
export function killGroup(leader: number): void {
  sendSignal(-leader, 'SIGKILL');
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

// Tells a process from a later one with the same number, so that only our own processes are ever ended.

/** Returns when process `pid` began, as an opaque string; undefined when it does not exist or is a zombie. */
export function processStartTime(pid: number): string | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The second field is the name in parentheses and may hold spaces; state is field 3, start time field 22.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
}

function fromPs(pid: number): string | undefined {
  try {
    // A later start may have another time zone or language.
    const env = { ...process.env, TZ: 'UTC', LC_ALL: 'C' };
    const question = ['-o', 'state=,lstart=', '-p', String(pid)];
    const line = execFileSync('ps', question, { encoding: 'utf8', env }).trim();
    return line.startsWith('Z') ? undefined : line.slice(1).replace(/^\S*\s+/, '');
  } catch {
    return undefined;
  }
}

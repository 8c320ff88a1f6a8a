// Processor time and memory of processes, read from /proc; not measured on systems other than Linux.
import { readdirSync, readFileSync } from 'node:fs';

/** The unit of /proc/<pid>/stat on every Linux that Node runs on: 100 ticks a second. */
const TICK_MS = 10;

/** The root process or processes of each group, by name; undefined when it runs elsewhere. */
export type Groups = Record<string, number | number[] | undefined>;
/** `residentMb` counts pages that the processes of a group share only once. */
type Usage = { cpuMs: number; residentMb: number };

type Process = { parent: number; cpuMs: number };

/** Reads what each group (processes and their descendants) has used so far; null where that cannot be read. */
export function readUsage(groups: Groups): Record<string, Usage | null> {
  const processes = process.platform === 'linux' ? readProcesses() : new Map<number, Process>();
  return Object.fromEntries(
    Object.entries(groups).map(([name, given]) => {
      const roots = [given ?? []].flat();
      if (!roots.some((root) => processes.has(root))) return [name, null];
      const pids = [...processes.keys()].filter((pid) => descendsFrom(processes, pid, roots));
      const cpuMs = pids.reduce((sum, pid) => sum + (processes.get(pid)?.cpuMs ?? 0), 0);
      return [name, { cpuMs, residentMb: readResidentMb(pids) }];
    }),
  );
}

function readProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readProc(pid, 'stat');
    // The second field is the name in parentheses and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // User and system time of the process and of its ended children.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    if (stat) processes.set(Number(pid), { parent: Number(fields[1]), cpuMs: ticks * TICK_MS });
  }
  return processes;
}

function descendsFrom(processes: Map<number, Process>, pid: number, roots: number[]): boolean {
  for (let at: number | undefined = pid; at; at = processes.get(at)?.parent)
    if (roots.includes(at)) return true;
  return false;
}

function readResidentMb(pids: number[]): number {
  let ownKb = 0;
  let sharedKb = 0;
  for (const pid of pids) {
    const status = readProc(String(pid), 'status');
    const field = (name: string) => Number(RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
    ownKb += field('RssAnon');
    sharedKb = Math.max(sharedKb, field('RssFile') + field('RssShmem'));
  }
  return (ownKb + sharedKb) / 1024;
}

/** Reads the memory of one process; pages that it shares with others count in equal parts (PSS). */
export function readPss(pid: number): { totalMb: number; anonymousMb: number } {
  const usage = readProc(String(pid), 'smaps_rollup');
  const megabytes = (field: string) =>
    Number(RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(usage)?.[1] ?? 0) / 1024;
  return { totalMb: megabytes('Pss'), anonymousMb: megabytes('Pss_Anon') };
}

/** Returns an empty text when the process has ended in the meantime. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** Reads what the threads of one process have used so far, in milliseconds, by their name without numbers. */
export function readThreadTimes(pid: number): Record<string, number> {
  const times: Record<string, number> = {};
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readProc(`${pid}/task/${thread}`, 'stat');
    const name = /\((.*)\)/s.exec(stat)?.[1]?.replaceAll(/[-:\d]+/g, '') ?? '';
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = fields.slice(11, 13).reduce((sum, field) => sum + Number(field), 0) * TICK_MS;
    if (stat) times[name] = (times[name] ?? 0) + ms;
  }
  return times;
}

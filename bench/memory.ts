// main: the memory of a running `npm start` by part (bench/results/2026-11-28-memory.txt): npx node bench/memory.ts [STATE_FOLDER]
// Linux only. Pages that several processes share count in equal parts (PSS), so the parts can be added up.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { formatTable } from '../cli/terminal/print.ts';
import type { ProcessRecord } from '../dev/processes/end-process.ts';
import { openStateFolder } from '../dev/state-folder.ts';
import { readPss } from './setup/usage.ts';

type Part = { processes: number; totalMb: number; anonymousMb: number };

const stateFolder = process.argv[2] ? path.resolve(process.argv[2]) : openStateFolder();
const names = new Map(
  readdirSync(path.join(stateFolder, 'run')).map((file) => {
    const { pid, name } = JSON.parse(read(path.join(stateFolder, 'run', file))) as ProcessRecord;
    return [pid, name];
  }),
);
const supervisor = (JSON.parse(read(path.join(stateFolder, 'start.json'))) as { pid: number }).pid;
names.set(supervisor, 'npm start');

const parts: { [name: string]: Part } = {};
for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
  const name = partOf(pid);
  if (!name) continue;
  const { totalMb, anonymousMb } = readPss(pid);
  const part = parts[name] ?? { processes: 0, totalMb: 0, anonymousMb: 0 };
  parts[name] = part;
  part.processes += 1;
  part.totalMb += totalMb;
  part.anonymousMb += anonymousMb;
}
const allMb = Object.values(parts).reduce((sum, part) => sum + part.totalMb, 0);
const rows = Object.entries(parts).map(([name, part]) => [
  name,
  part.processes,
  Math.round(part.totalMb),
  Math.round(part.anonymousMb),
]);
console.log(
  formatTable(
    ['part', 'processes', 'MB', 'private MB'],
    [...rows, ['all', null, Math.round(allMb), null]],
    '',
  ),
);

/** Names the part that a process belongs to; undefined for processes of others. */
function partOf(pid: number): string | undefined {
  const command = read(`/proc/${pid}/cmdline`);
  if (command.includes('processes/watchdog.ts') && command.includes(stateFolder)) return 'watchdog';
  for (let at = pid; at > 1; at = parentOf(at)) {
    const name = names.get(at);
    if (name) return command.includes('sandbox/guest.') ? 'sandbox' : name;
  }
  return undefined;
}

function parentOf(pid: number): number {
  // The second field is the name in parentheses and may hold spaces.
  return Number(read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1] ?? 0);
}

/** Reads a file; returns an empty text when the process has ended in the meantime. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

import { readFileSync } from 'node:fs';

/** The unit of /proc/<pid>/stat on every Linux that Node runs on: 100 ticks a second. */
const TICK_MS = 10;

/** Returns the processor time that a process has used so far, in milliseconds; 0 where it cannot be read (not on Linux). */
export function processorMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses and may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return 0;
  }
}

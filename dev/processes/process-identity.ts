// Tells a process from a later one with the same number, so that only our own processes are ever ended.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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

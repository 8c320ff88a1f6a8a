// A postmaster.pid after a crash: the server may still run, or another process may have its number.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { endProcess } from '../processes/end-process.ts';
import { processStartTime } from '../processes/process-identity.ts';

/** Ends a server that an earlier start left running on this cluster, and removes its lock file. */
export async function endStalePostmaster(dataFolder: string): Promise<void> {
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

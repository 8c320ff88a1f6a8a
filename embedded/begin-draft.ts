import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { processStartTime } from './processes/process-identity.ts';

/**
 * Returns the path at which this process makes `target`, to rename it once it is whole. Removes what processes left there that
 * were killed meanwhile.
 */
export function beginDraft(target: string): string {
  const folder = path.dirname(target);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)$/.exec(name) ?? [];
    if (name === `${path.basename(target)}.${pid}` && !processStartTime(Number(pid)))
      rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  return `${target}.${process.pid}`;
}

// The folder for downloads and builds that all checkouts of this user share.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { processStartTime } from './processes/end-process.ts';

/** Another container or machine may share the folder, whose processes are not seen here. */
const KEPT_MS = 24 * 3_600_000;

/** Returns the path of `weir` in XDG_CACHE_HOME or `~/.cache`, without creating it. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), '.cache'), 'weir');
}

/**
 * Returns the path at which this process makes `target`, to rename it once it is whole. Removes what processes left there that
 * were killed, a day later.
 */
export function beginDraft(target: string): string {
  const folder = path.dirname(target);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const [, pid] = /\.(\d+)$/.exec(name) ?? [];
    if (name !== `${path.basename(target)}.${pid}` || processStartTime(Number(pid))) continue;
    const draft = path.join(folder, name);
    const madeAt = statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAt > KEPT_MS) rmSync(draft, { recursive: true, force: true });
  }
  return `${target}.${process.pid}`;
}

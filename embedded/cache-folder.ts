// Where what takes long to get is kept for every checkout of this user.
import os from 'node:os';
import path from 'node:path';

/** `weir` in XDG_CACHE_HOME or `~/.cache`; not created. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), '.cache'), 'weir');
}

// The folder for downloads and builds that all checkouts of this user share.
import os from 'node:os';
import path from 'node:path';

/** Returns the path of `weir` in XDG_CACHE_HOME or `~/.cache`, without creating it. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), '.cache'), 'weir');
}

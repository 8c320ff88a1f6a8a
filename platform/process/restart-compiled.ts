import { flushCompileCache, getCompileCacheDir } from 'node:module';

/**
 * Restarts this process with compiled code, if RESTART_COMPILED is set and the process compiled its TypeScript. This frees the
 * compiler's 10 MB.
 */
export function restartCompiled(): void {
  const { RESTART_COMPILED: isAsked, ...env } = process.env;
  // Neither the program's children nor the process that replaces it inherits it.
  delete process.env.RESTART_COMPILED;
  if (!isAsked || !getCompileCacheDir() || !hasLoadedCompiler()) return;
  flushCompileCache();
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env);
}

/** Whether this process has loaded the compiler of TypeScript. */
export function hasLoadedCompiler(): boolean {
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  return moduleLoadList.some((name) => name.includes('amaro'));
}

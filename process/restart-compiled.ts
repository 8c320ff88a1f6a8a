import { flushCompileCache } from 'node:module';

/**
 * Replaces the process, where RESTART_COMPILED asks for it, by one that finds its TypeScript compiled: the compiler keeps some
 * 10 MB in a process that had to load it.
 */
export function restartCompiled(): void {
  const { RESTART_COMPILED: isAsked, ...env } = process.env;
  // The program's own children are not asked, and neither is the process that comes after this one.
  delete process.env.RESTART_COMPILED;
  if (!isAsked || !hasLoadedCompiler()) return;
  flushCompileCache();
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], env);
}

function hasLoadedCompiler(): boolean {
  const { moduleLoadList } = process as unknown as { moduleLoadList: string[] };
  return moduleLoadList.some((name) => name.includes('amaro'));
}

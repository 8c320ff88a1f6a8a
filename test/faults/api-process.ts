import type { Weir } from '../harness.ts';
import { type Program, startProgram } from './processes.ts';

/** Starts a second API of `weir` in its own process; `url` is where it listens. */
export async function startApiProcess(
  weir: Weir,
  env: NodeJS.ProcessEnv = {},
): Promise<Program & { url: string }> {
  const program = await startProgram(weir, 'api/server.ts', env);
  return { ...program, url: new URL('/', /http\S+/.exec(program.ready)?.[0]).origin };
}

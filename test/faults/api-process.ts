import type { Weir } from '../harness.ts';
import { type Program, startProgram } from './processes.ts';

/** A second API, as a process of its own, beside the one of `weir`; `url` is where it listens. */
export async function startApiProcess(
  weir: Weir,
  env: NodeJS.ProcessEnv = {},
): Promise<Program & { url: string }> {
  const program = await startProgram(weir, 'api/server.ts', env);
  return { ...program, url: new URL('/', /http\S+/.exec(program.ready)?.[0]).origin };
}

// API and workers as separate processes, as docker-compose.yml runs them.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../dev/processes/child.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const WATCHDOG = path.join(ROOT, 'worker/disable-workflow-watchdog.ts');
const READY_TIMEOUT_MS = 120_000;

type Options = { stateFolder: string; env: NodeJS.ProcessEnv; baseUrl: string };

/** Starts an API and `workers` workers; resolves when the API is ready and has seen a worker ask for work. */
export async function startSeparateProcesses(
  options: Options,
  workers: number,
): Promise<[Child, ...Child[]]> {
  const api = startNode(options, 'api', [path.join(ROOT, 'api/server.ts')]);
  const worker = ['--import', WATCHDOG, path.join(ROOT, 'worker/worker.ts')];
  const children: [Child, ...Child[]] = [api];
  for (let index = 1; index <= workers; index += 1)
    children.push(startNode(options, `worker-${index}`, worker));
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(options.baseUrl))) {
    const ended = children.find((child) => child.hasExited());
    if (ended || Date.now() > deadline) {
      throw new Error(`Weir did not become ready. ${(ended ?? api).describeLog()}`);
    }
    await sleep(100);
  }
  return children;
}

function startNode({ stateFolder, env }: Options, name: string, args: string[]): Child {
  const command = process.execPath;
  return startChild({
    stateFolder,
    name,
    order: 1,
    command,
    args,
    env,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 50_000,
  });
}

async function isReady(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { away } = (await response.json()) as { away?: string[] };
    return response.ok && !away?.length;
  } catch {
    return false;
  }
}

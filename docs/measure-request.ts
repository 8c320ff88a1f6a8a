// Measures what a reader meets between the socket and the insert of a run: files and stack frames of the project.
import { Session } from 'node:inspector';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startServers } from '../test/start-servers.ts';

/** Timers run beside one request, and not beside all. */
const REQUESTS = 5;

export type RequestPath = { files: string[]; functions: number; frames: string[] };

/**
 * Sends POST …/execute for a flow of two blocks to a service of its own, with warm caches, and looks at the moment when the
 * run is inserted. Starts and stops PostgreSQL and Temporal.
 */
export async function measureRequest(root: string): Promise<RequestPath> {
  const servers = await startServers();
  Object.assign(process.env, servers.env);
  const { startWeir } = await import('../test/harness.ts');
  const { passthrough } = await import('../test/blocks.ts');
  const weir = await startWeir({ worker: false });
  try {
    const tenant = await weir.createTenant();
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const over = new AbortController();
    const start = (kind: string) =>
      fetch(`${weir.url}/api/v1/seq/${flow}/${kind}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'm' }),
        signal: over.signal,
      });
    for (let request = 0; request < 2; request += 1) await (await start('jobs')).text();
    const paths: RequestPath[] = [];
    const pending: Promise<unknown>[] = [];
    for (let request = 0; request < REQUESTS; request += 1) {
      const found = measureAtInsert(root);
      // No worker carries the run out.
      pending.push(start('execute').catch(() => undefined));
      paths.push(await found);
    }
    over.abort();
    await Promise.all(pending);
    const [first = { files: [], functions: 0, frames: [] }] = paths;
    const files = first.files.filter((file) => paths.every((path) => path.files.includes(file)));
    return { ...first, files, functions: Math.min(...paths.map(({ functions }) => functions)) };
  } finally {
    await weir.stop();
    await servers.stop();
  }
}

/** Counts what runs from now on, until a run is inserted. */
function measureAtInsert(root: string): Promise<RequestPath> {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const isOwn = (url: string) =>
    url.startsWith(`file://${root}/`) && !/\/(?:node_modules|test|docs|dev)\//.test(url);
  const { query } = pg.Client.prototype;
  return new Promise((resolve, reject) => {
    pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
      if (/^insert into "run"/.test(String(args[0]))) {
        pg.Client.prototype.query = query;
        const frames = listFrames().filter(isOwn);
        session.post('Profiler.takePreciseCoverage', (error, coverage) => {
          session.disconnect();
          if (error) return reject(error);
          const own = coverage.result
            .filter(({ url }) => isOwn(url))
            .map(({ url, functions }) => ({ url, ran: functions.filter(({ ranges }) => ranges[0]?.count) }))
            .filter(({ ran }) => ran.length > 0);
          const files = own.map(({ url }) => path.relative(root, fileURLToPath(url))).toSorted();
          resolve({ files, functions: own.reduce((sum, { ran }) => sum + ran.length, 0), frames });
        });
      }
      return Reflect.apply(query, this, args);
    } as typeof query;
  });
}

/** Lists the places of the stack, with those that await it, as URLs. */
function listFrames(): string[] {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Infinity;
  const { stack = '' } = new Error('the stack');
  Error.stackTraceLimit = stackTraceLimit;
  return stack.split('\n').flatMap((line) => /file:\/\/\S+?(?=\)?$)/.exec(line)?.[0] ?? []);
}

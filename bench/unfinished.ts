// main: what runs that do not end cost (bench/results/2026-11-24-unfinished-runs.txt):
//   npx node bench/unfinished.ts [--count 100000] [--seconds 120]
// So many runs are open in the engine and wait for a task queue that no worker polls, as under a roll-out that went wrong. Linux
// only.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { formatTable } from '../cli/terminal/print.ts';
import { createProgress } from '../dev/progress.ts';
import { RUN_FLOW } from '../flow/run.ts';
import { acceptRun } from '../test/accept-run.ts';
import { passthrough } from '../test/blocks.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import { startBackends } from './setup/backends.ts';
import { startLoadGenerator } from './setup/load.ts';
import { type BenchService, startBenchService } from './setup/service.ts';
import { readUsage } from './setup/usage.ts';

const STARTED_AT_ONCE = 32;
const CALL_EVERY_MS = 1_000;
const UNPOLLED = 'nobody';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seconds: { type: 'string', default: '120' } },
});
const count = Number(values.count);
const seconds = Number(values.seconds);
const stops: (() => Promise<void>)[] = [];
const onStop = (stop: () => Promise<void>) => void stops.push(stop);
try {
  console.log(await measure());
} finally {
  for (const stop of stops.reverse()) await stop();
}
process.exit();

async function measure(): Promise<string> {
  const progress = createProgress();
  const backends = await startBackends(progress, onStop);
  const load = startLoadGenerator();
  onStop(load.stop);
  const service = await startBenchService(backends, {}, onStop);
  const connection = await Connection.connect({ address: backends.temporalAddress });
  onStop(() => connection.close());
  const { key, createFlow } = await service.createTenant('caller', 1_000);
  const flow = await createFlow([passthrough('only')]);
  const pids = { service: service.child().pid, ...backends.pids };

  async function look(name: string): Promise<(string | number)[]> {
    const task = progress.begin(name);
    const before = readUsage(pids);
    const { p50, p95 } = await load.run({
      ...{ url: `${flow}/execute`, headers: { authorization: `Bearer ${key}` } },
      ...{ body: '{"message":"m"}', expect: '"result":"m"' },
      ...{ concurrency: 1, maxRequests: seconds, maxMs: Number.MAX_SAFE_INTEGER, everyMs: CALL_EVERY_MS },
    });
    const after = readUsage(pids);
    task.done();
    const spentMs = (part: string) => ((after[part]?.cpuMs ?? 0) - (before[part]?.cpuMs ?? 0)) / seconds;
    return [
      name,
      ...[p50, p95].map(Math.round),
      ...Object.keys(pids).map((part) => Math.round(spentMs(part))),
      Math.round(after.service?.residentMb ?? 0),
    ];
  }

  const rows = [await look('no unfinished runs')];
  const seeding = progress.begin(`${count} runs`);
  await leaveRuns(service, new Client({ connection }), flow, (done) => seeding.say(`${done}`));
  seeding.done();
  rows.push(await look(`${count} unfinished runs`));
  const began = performance.now();
  await service.child().stop();
  const stoppedS = ((performance.now() - began) / 1_000).toFixed(1);
  const spent = Object.keys(pids).map((part) => `${part}, ms a second`);
  const head = ['beside', '/execute p50 ms', 'p95', ...spent, 'service MB'];
  return `${formatTable(head, rows, '')}\nThe service was asked to stop then, and had ended after ${stoppedS} s.`;
}

/** Starts workflows that nobody carries out, and stores their runs as accepted an hour ago. */
async function leaveRuns(
  { db }: BenchService,
  client: Client,
  flowUrl: string,
  onDone: (done: number) => void,
): Promise<void> {
  const { id: projectId, organization_id: organizationId } = await db
    .selectFrom('project')
    .select(['id', 'organization_id'])
    .executeTakeFirstOrThrow();
  const slugs = new URL(flowUrl).pathname.replace('/api/v1/seq/', '');
  const ids = Array.from({ length: count }, () => randomUUID());
  let next = 0;
  const startSome = async () => {
    for (let id = ids[next]; id !== undefined; id = ids[next]) {
      next += 1;
      if (next % 1_000 === 0) onDone(next);
      await client.workflow.start<typeof runFlow>(RUN_FLOW, {
        workflowId: id,
        taskQueue: UNPOLLED,
        args: [{ executionId: id, steps: [] }],
      });
    }
  };
  await Promise.all(Array.from({ length: STARTED_AT_ONCE }, startSome));
  const { executionId } = await acceptRun({ db }, { organizationId, projectId }, slugs);
  await sql`insert into run
      (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input, started_at)
    select id, organization_id, project_id, flow_id, flow_version_id, mode, environment, input, now() - interval '1 hour'
    from run, unnest(${ids}::uuid[]) as id where execution_id = ${executionId}`.execute(db);
  await sql`delete from run where execution_id = ${executionId}`.execute(db);
}

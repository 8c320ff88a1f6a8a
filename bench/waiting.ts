// main: memory and processor time of work that only waits (bench/results/2026-11-28-memory.txt):
//   npx node bench/waiting.ts [--count 2000] [--seconds 30]
// So many deliveries whose next attempt is due in half an hour, twice: the second time shows what the work itself takes, since
// everything is loaded by then. Linux only.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { formatTable } from '../cli/terminal/print.ts';
import { insertTestDelivery } from '../db/webhooks/open-deliveries.ts';
import { createProgress } from '../dev/progress.ts';
import { type DeliveryCall, RETRY_DELAYS_MS } from '../flow/delivery.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { startDeliveryWorkflow } from '../temporal/start-delivery-workflow.ts';
import { answerWith, startWebhookReceiver, testAuthority } from '../test/fakes/webhook-receiver.ts';
import { type Backends, startBackends } from './setup/backends.ts';
import { type BenchService, startBenchService } from './setup/service.ts';
import { readPss, readUsage } from './setup/usage.ts';

const ORGANIZATIONS = 4;

/** So many are started at a time. */
const AT_ONCE = 16;

/** Attempts made before, so that the next delay is half an hour: nothing is attempted while the rest is started. */
const MADE = 2;
const POLL_MS = 200;

type WaitingWork = {
  /** For the service. */
  env: NodeJS.ProcessEnv;
  /** Starts deliveries whose receiver answers 500; resolves when each waits for its next attempt. */
  postponeDeliveries(service: BenchService, count: number): Promise<void>;
};

const UNENCRYPTED = { temporalEncryption: { keys: [], encrypts: false } };

/** The service, Temporal and PostgreSQL have put away by then what they do after the last write. */
const REST_MS = 10_000;
const TASK_QUEUE = 'bench-waiting';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '30' },
  },
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
  const work = await startWaitingWork(backends, TASK_QUEUE, onStop);
  const service = await startBenchService(backends, { ...work.env, WEIR_TASK_QUEUE: TASK_QUEUE }, onStop);
  const pids = { service: service.child().pid, ...backends.pids };
  const stages: { name: string; start?: () => Promise<void> }[] = [
    { name: 'idle' },
    { name: `${count} deliveries`, start: () => work.postponeDeliveries(service, count) },
    { name: `${count} more`, start: () => work.postponeDeliveries(service, count) },
  ];
  const rows: (string | number)[][] = [];
  for (const { name, start } of stages) {
    const task = progress.begin(name);
    const began = performance.now();
    let peakMb = 0;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, readPss(pids.service).totalMb);
    }, 1_000);
    await start?.();
    clearInterval(watch);
    const startedS = (performance.now() - began) / 1_000;
    await sleep(REST_MS);
    const before = readUsage(pids);
    await sleep(seconds * 1_000);
    const after = readUsage(pids);
    const spentMs = (part: string) => (after[part]?.cpuMs ?? 0) - (before[part]?.cpuMs ?? 0);
    const { totalMb, anonymousMb } = readPss(pids.service);
    rows.push([
      ...[name, Math.round(startedS), Math.round(peakMb), Math.round(totalMb), Math.round(anonymousMb)],
      ...Object.keys(pids).map((part) => Number((spentMs(part) / seconds).toFixed(1))),
    ]);
    task.done();
  }
  const spent = Object.keys(pids).map((part) => `${part}, ms a second`);
  const head = ['what waits', 's to start', 'highest MB', 'service MB', 'private MB', ...spent];
  return formatTable(head, rows, '');
}

/** Connects to the engine and starts the receiver. */
async function startWaitingWork(
  { temporalAddress, stateFolder }: Backends,
  taskQueue: string,
  onStop: (stop: () => Promise<void>) => void,
): Promise<WaitingWork> {
  const connection = await Connection.connect({ address: temporalAddress });
  onStop(() => connection.close());
  const client = new Client({ connection, dataConverter: createDataConverter(UNENCRYPTED) });
  const receiver = await startWebhookReceiver();
  onStop(receiver.close);
  const caFile = path.join(stateFolder, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority().pem);

  return {
    env: {
      WEIR_TEST_DIAL_MAP: JSON.stringify({ [receiver.host]: `127.0.0.1:${receiver.port}` }),
      WEIR_WEBHOOK_CA_FILE: caFile,
    },

    async postponeDeliveries(service, count) {
      receiver.will(...Array.from({ length: count }, () => answerWith(500)));
      const slugs = Array.from({ length: ORGANIZATIONS }, () => `webhooks-${randomUUID()}`);
      const tenants = await Promise.all(slugs.map((slug) => service.createTenant(slug, 1)));
      await repeat(count, async (index) => {
        const { organizationId } = tenants[index % ORGANIZATIONS] as (typeof tenants)[number];
        const id = randomUUID();
        const event = 'flow.completed';
        const url = `https://${receiver.host}/`;
        await insertTestDelivery(service.db, { id, organizationId, event, url, body: '{}' });
        await service.db
          .updateTable('webhook_delivery')
          .set({ attempt: MADE })
          .where('id', '=', id)
          .execute();
        const call: DeliveryCall = {
          ...{ deliveryId: id, round: 1, made: MADE, organizationId, event },
          host: receiver.host,
        };
        await startDeliveryWorkflow({ db: service.db, client, taskQueue }, call);
      });
      await waitForNone(() =>
        service.db
          .selectFrom('webhook_delivery')
          .select('id')
          .where('status', '<>', 'failed_retry')
          .limit(1)
          .execute(),
      );
      const { soonest } = await service.db
        .selectFrom('webhook_delivery')
        .select(({ fn }) => fn.min('next_attempt_at').as('soonest'))
        .executeTakeFirstOrThrow();
      const leftMs = (soonest?.getTime() ?? 0) - Date.now();
      if (leftMs < (RETRY_DELAYS_MS[0] as number))
        throw new Error('The first deliveries were attempted again before all were started: lower --count.');
    },
  };
}

async function repeat(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workOff = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workOff));
}

async function waitForNone(list: () => Promise<unknown[]>): Promise<void> {
  while ((await list()).length > 0) await sleep(POLL_MS);
}

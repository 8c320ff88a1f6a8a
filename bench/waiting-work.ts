import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { insertTestDelivery } from '../db/webhooks/open-deliveries.ts';
import { type DeliveryCall, RETRY_DELAYS_MS } from '../flow/delivery.ts';
import { toPlan } from '../flow/plan.ts';
import { PARK_SIGNAL, RUN_FLOW } from '../flow/run.ts';
import { createDataConverter } from '../temporal/data-converter.ts';
import { startDeliveryWorkflow } from '../temporal/start-delivery-workflow.ts';
import { acceptRun } from '../test/accept-run.ts';
import { passthrough } from '../test/blocks.ts';
import { answerWith, startWebhookReceiver, testAuthority } from '../test/fakes/webhook-receiver.ts';
import type { runFlow } from '../workflows/run-flow.ts';
import type { Backends } from './backends.ts';
import type { BenchService } from './service.ts';

const ORGANIZATIONS = 4;
/** So many are started at a time. */
const AT_ONCE = 16;
/** Attempts made before, so that the next delay is half an hour: nothing is attempted while the rest is started. */
const MADE = 2;
const POLL_MS = 200;

type WaitingWork = {
  /** For the service. */
  env: NodeJS.ProcessEnv;
  /** Starts runs that park before their first block; resolves when they are parked. */
  parkRuns(service: BenchService, count: number): Promise<void>;
  /** Starts deliveries whose receiver answers 500; resolves when each waits for its next attempt. */
  postponeDeliveries(service: BenchService, count: number): Promise<void>;
};

const UNENCRYPTED = { temporalEncryption: { keys: [], encrypts: false } };

/** Connects to the engine and starts the receiver. */
export async function startWaitingWork(
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

    async parkRuns(service, count) {
      const { createFlow, organizationId } = await service.createTenant(`parked-${randomUUID()}`, 1_000);
      const flow = new URL(await createFlow([passthrough('only')])).pathname.replace('/api/v1/seq', '');
      const { id: projectId } = await service.db
        .selectFrom('project')
        .select('id')
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow();
      await repeat(count, async () => {
        const { executionId, definition } = await acceptRun(
          service,
          { organizationId, projectId },
          flow.slice(1),
        );
        await client.workflow.signalWithStart<typeof runFlow>(RUN_FLOW, {
          workflowId: executionId,
          taskQueue,
          args: [{ executionId, steps: toPlan(definition.steps) }],
          signal: PARK_SIGNAL,
        });
      });
      await waitForNone(() =>
        service.db
          .selectFrom('run')
          .select('execution_id')
          .where('organization_id', '=', organizationId)
          .where('parked_at', 'is', null)
          .limit(1)
          .execute(),
      );
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

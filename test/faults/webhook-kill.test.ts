import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PAIR_MAX } from '../../activities/deliveries/delivery-gate.ts';
import { ATTEMPTS_MAX } from '../../flow/delivery.ts';
import { reconcileDeliveries } from '../../worker/reconciler/reconcile-deliveries.ts';
import { changeDeliveries, recordDeliveries, statusIs } from '../api/webhooks/deliveries-fixture.ts';
import {
  answerWith,
  hang,
  type Reaction,
  type Received,
  type WebhookReceiver,
} from '../fakes/webhook-receiver.ts';
import type { Tenant } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';
import { type Program, startProgram } from './processes.ts';

const DELIVERIES = 1_000;
/** The number of deliveries that report runs; the others are tests, which cost the engine half as much. */
const RUNS = 50;
/** How many have arrived when the receiver answers no more, until a worker is killed. */
const ANSWERED = 200;
/** So many then arrive: all that the two workers send to one host for one organization at a time. */
const HELD = 2 * PAIR_MAX;
/** Requests of the test's own under way at a time: few, for the receiver lives in this process, too. */
const CONCURRENCY = 8;

describeWith(['openssl'], 'a delivery is never lost', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  let tenant: Tenant;
  const programs: Program[] = [];
  before(async () => {
    weir = await startWebhookWeir({ worker: false });
    hook = weir.hooks[0] as WebhookReceiver;
    tenant = await weir.createTenant();
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
  });

  const startWorkerProcess = async () => {
    const program = await startProgram(weir, 'worker/worker.ts', weir.env);
    programs.push(program);
    return program;
  };
  const reconcile = () =>
    reconcileDeliveries({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
  /** As if so much time had passed. */
  const makeDue = (id: string, more: { attempt?: number } = {}) =>
    changeDeliveries(weir, [id], { check_at: new Date(), ...more });

  /** Holds back the answers to the next HELD deliveries; resolves once they have come. */
  async function hold() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held: string[] = [];
    const keep: Reaction = (response, request) => {
      held.push(idOf(request));
      void promise.then(() => answerWith(204)(response, request));
    };
    hook.will(...Array.from({ length: HELD }, () => keep));
    await waitUntil(() => held.length === HELD);
    return { held, release: resolve };
  }
  /** Groups deliveries under way by the worker that makes their attempts. */
  async function groupByWorker(ids: string[]): Promise<Map<unknown, string[]>> {
    const workers = new Map<string, unknown>();
    for (const id of ids) {
      const { raw } = await weir.client.workflow.getHandle(id).describe();
      workers.set(id, raw.pendingActivities?.[0]?.lastWorkerIdentity);
    }
    return Map.groupBy(ids, (id) => workers.get(id));
  }

  it(`delivers ${DELIVERIES} while a worker is killed -9: none is missing, only cut attempts come twice, openssl verifies every signature`, async () => {
    const secret = await weir.rotate(tenant);
    const flow = await weir.createFlow(tenant, []);
    const [first, second] = await Promise.all([startWorkerProcess(), startWorkerProcess()]);
    const executionIds = new Set<string>();
    const accepting = inParallel(DELIVERIES, async (index) => {
      if (index < RUNS) executionIds.add(await weir.startJob(tenant, flow, hook));
      else await weir.sendTest(tenant, hook);
    });
    await hook.arrived(ANSWERED);
    const { held, release } = await hold();
    const workers = await groupByWorker(held);
    assert.deepEqual(
      [...workers.values()].map((ids) => ids.length),
      [PAIR_MAX, PAIR_MAX],
    );
    await first.kill();
    release();
    await accepting;

    const open = () =>
      weir.db
        .selectFrom('webhook_delivery')
        .select(['id', 'status', 'attempt'])
        .where('status', '<>', 'succeeded')
        .execute();
    const recorded = () => weir.db.selectFrom('webhook_delivery').select(['id', 'execution_id']).execute();
    // Temporal notices the killed worker's attempts by their missing heartbeats, a minute later: the test does not wait for that.
    let left = DELIVERIES;
    while (left > 0) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const undelivered = await open();
      const before = left;
      left = DELIVERIES - (await recorded()).length + undelivered.length;
      // While the others go out the engine has enough to do.
      if (left < before) continue;
      for (const { id } of undelivered) {
        const { raw } = await weir.client.workflow
          .getHandle(id)
          .describe()
          .catch(() => ({ raw: undefined }));
        const [pending] = raw?.pendingActivities ?? [];
        if (!pending?.nextAttemptScheduleTime) continue;
        await weir.attemptNow(id);
      }
    }
    await second.stop();

    const arrivals = Map.groupBy(hook.received, idOf);
    const deliveries = await recorded();
    assert.deepEqual(new Set(arrivals.keys()), new Set(deliveries.map(({ id }) => id)));
    const reported = deliveries.flatMap(({ execution_id }) => execution_id ?? []);
    assert.deepEqual(new Set(reported), executionIds);
    assert.equal(reported.length, RUNS);
    const cut = [...arrivals].filter(([, requests]) => requests.length > 1).map(([id]) => id);
    const inHand = [...workers.values()].map((ids) => ids.toSorted());
    assert(
      inHand.some((ids) => isDeepStrictEqual(ids, cut.toSorted())),
      `${cut} came twice, of ${JSON.stringify(inHand)}`,
    );
    verifyWithOpenssl(secret, hook.received);
  }).timeout(900_000);

  it('is attempted again, or given up after the last attempt, when its worker was killed -9 in the middle', async () => {
    const worker = await startWorkerProcess();
    const received = hook.received.length;
    hook.will(hang, hang);
    const retried = await weir.sendTest(tenant, hook);
    const [last = ''] = await recordDeliveries(weir, tenant, 1);
    await makeDue(last, { attempt: ATTEMPTS_MAX - 1 });
    await reconcile();
    await hook.arrived(received + 2);
    await worker.kill();
    assert.equal((await weir.deliveryWhen(tenant, () => true, last)).attempt, ATTEMPTS_MAX);

    await weir.startWorker();
    const { lastFailure } = await weir.pendingAttempt(retried.id, 2);
    assert.match(lastFailure, /heartbeat/i);
    await makeDue(retried.id);
    await reconcile();
    // By this look or by that of the worker, which may have taken it just before.
    const cut = await weir.deliveryWhen(tenant, statusIs('failed_retry'), retried.id);
    assert.deepEqual([cut.attempt, cut.attempts[0].durationMs], [1, null]);
    await weir.attemptNow(retried.id);
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), retried.id)).attempt, 2);
    assert.match(
      (await weir.deliveryWhen(tenant, statusIs('dead_letter'), last)).errorMessage,
      /worker was lost/,
    );
  });

  it('is started by the reconciler when the process died between the record and the start', async () => {
    const [id = ''] = await recordDeliveries(weir, tenant, 1);
    await makeDue(id);
    await reconcile();
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), id)).attempt, 1);
  });

  it('goes on after the attempts that were made when the engine has lost it', async () => {
    const [id = ''] = await recordDeliveries(weir, tenant, 1);
    await makeDue(id, { attempt: 4 });
    await reconcile();
    assert.equal((await weir.deliveryWhen(tenant, statusIs('succeeded'), id)).attempt, 5);
  });

  it('is a dead letter when an operator terminated it, and can be sent anew', async () => {
    await weir.stopWorker();
    const { id } = await weir.sendTest(tenant, hook);
    await weir.client.workflow.getHandle(id).terminate('by hand');
    await makeDue(id);
    await reconcile();
    const delivery = await weir.deliveryWhen(tenant, statusIs('dead_letter'), id);
    assert.match(delivery.errorMessage, /terminated/);
    await weir.startWorker();
    assert.equal((await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`)).status, 202);
    await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
  });
});

const idOf = ({ headers }: Received) => String(headers['x-weir-delivery']);

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  });
  await Promise.all(workers);
}

/** Every v1 signature, computed by openssl over what arrived. */
function verifyWithOpenssl(secret: string, requests: Received[]): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-signatures-'));
  try {
    const files = requests.map(({ headers, body }, index) => {
      const file = path.join(folder, String(index));
      writeFileSync(file, Buffer.concat([Buffer.from(`${headers['x-weir-timestamp']}.`), body]));
      return file;
    });
    const output = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r', ...files], {
      encoding: 'utf8',
    });
    const computed = output
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 64));
    const sent = requests.map(
      ({ headers }) => /,v1=([0-9a-f]{64})$/.exec(String(headers['x-weir-signature']))?.[1],
    );
    assert.deepEqual(computed, sent);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Step } from '../../flow/definition.ts';
import { code, llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { BUILD_MAX_MS } from '../platform/object-store/s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from '../platform/object-store/s3-server.ts';
import { waitUntil } from '../wait-until.ts';
import { auditRuns } from './audit-runs.ts';
import { faultSize } from './sizes.ts';

const RUNS = faultSize(10, 100);
const AWAY_MS = faultSize(0, 60) * 1_000;
const LARGE = 300_000;
/** The blocks of a run: an output goes to the store while a model is asked, and is read afterwards, first from the store. */
const STEPS: Step[] = [
  {
    type: 'parallel',
    step_id: 'both',
    name: 'both',
    branches: {
      large: [code('make', `return message.padEnd(${LARGE}, 'x');`)],
      model: [llm('ask', 'ask {{message}}', 'demo/chat')],
    },
  },
  code('again', 'return input.large;'),
  code('count', 'return input.length;'),
];

describeWithS3('while the object store is silent under load', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let proxy: TcpProxy;
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    server = await startS3Server();
    proxy = await startTcpProxy(server.url);
    models = await startCountingModelServer(0);
    const env = { ...server.env, WEIR_OBJECT_STORE_ENDPOINT: proxy.url, DEMO_BASE_URL: models.url };
    weir = await startWeir({ env });
    tenant = await weir.createTenant({ credits: 1_000_000 });
    flow = await weir.createFlow(tenant, STEPS);
  });
  after(async () => {
    await weir.stop();
    await models.close();
    await proxy.close();
    await server.stop();
  });
  const accept = () => {
    const one = async () => {
      const { status, body } = await weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        body: { message: randomUUID() },
      });
      assert.equal(status, 202);
      return body.executionId as string;
    };
    return Promise.all(Array.from({ length: RUNS }, one));
  };
  const countMade = async (ids: string[]) => {
    const { count } = await weir.db
      .selectFrom('block_run')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('execution_id', 'in', ids)
      .where('step_id', '=', 'make')
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const audit = (ids: string[]) => auditRuns(weir, tenant, flow, ids, { blocks: 4, charged: 1 });

  it('new runs finish without it, and those that read from it when it is back: nothing is asked or charged twice', async () => {
    const held = models.hold('ask ');
    const reading = await accept();
    await held.arrived(RUNS);
    await waitUntil(async () => (await countMade(reading)) === RUNS);
    // On a busy machine, some of them are in the database.
    assert((await server.keys()).length > 0);
    proxy.silence();
    const written = (await server.keys()).length;
    held.release();
    await audit(await accept());
    assert.equal((await server.keys()).length, written);
    await setTimeout(AWAY_MS);
    await proxy.restore();
    await audit(reading);
    assert.deepEqual([...models.asked.values()], Array(2 * RUNS).fill(1));
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { code, llm } from '../blocks.ts';
import { type CountingModelServer, startCountingModelServer } from '../fakes/counting-model-server.ts';
import { type Answer, startWeir, type Tenant, type Weir } from '../harness.ts';
import { startApiProcess } from './api-process.ts';
import { type Program, startProgram } from './processes.ts';

const CALLERS = 8;
const LLM_BLOCKS = 2;
const SERVICE_KEY = 'of-the-service';

type Sent = { message: string; modelKey: string | undefined; executionId: string };

describe('a service of several processes, each of which is replaced under load', () => {
  let models: CountingModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let env: NodeJS.ProcessEnv;
  const programs: Program[] = [];

  before(async () => {
    models = await startCountingModelServer(200);
    env = { DEMO_BASE_URL: models.url, DEMO_API_KEY: SERVICE_KEY, WEIR_HEARTBEAT_TIMEOUT: '5' };
    weir = await startWeir({ env, worker: false });
    tenant = await weir.createTenant({ credits: 100_000 });
    flow = await weir.createFlow(tenant, [
      code('tag', 'return message;'),
      llm('one', 'one {{previous_output}}', 'demo/chat'),
      llm('two', 'two {{message}}', 'demo/chat'),
    ]);
  });
  after(async () => {
    await Promise.all(programs.map((program) => program.kill()));
    await weir.stop();
    await models.close();
  });

  const startApi = async () => {
    const api = await startApiProcess(weir, env);
    programs.push(api);
    return api;
  };
  const startWorker = async () => {
    const worker = await startProgram(weir, 'worker/worker.ts', env);
    programs.push(worker);
    return worker;
  };

  it('loses no run, repeats none, charges each once, and keeps to the model key of each request', async () => {
    const [api, other, worker, second] = await Promise.all([
      startApi(),
      startApi(),
      startWorker(),
      startWorker(),
    ]);
    const apis = [api, other];
    const sent: Sent[] = [];
    let rolling = true;

    /** As clients are meant to: the same request, with its Idempotency-Key, until it is answered. */
    async function send(mode: string, message: string, modelKey: string | undefined): Promise<Answer> {
      const headers = {
        'idempotency-key': message,
        ...(modelKey !== undefined && { 'x-weir-model-key': `demo=${modelKey}` }),
      };
      for (let attempt = 0; ; attempt++) {
        const { url } = apis[attempt % apis.length] as { url: string };
        const call = weir.call('POST', `${flow}/${mode}`, {
          key: tenant.key,
          body: { message },
          headers,
          url,
        });
        const answer = await call.catch(() => undefined);
        if (answer && answer.status !== 503) return answer;
        await setTimeout(50);
      }
    }
    async function callAgainAndAgain(_: unknown, caller: number): Promise<void> {
      while (rolling) {
        const message = randomUUID();
        const modelKey = caller % 2 ? `sk-${randomUUID()}` : undefined;
        const { status, body } = await send(caller % 4 < 2 ? 'jobs' : 'execute', message, modelKey);
        assert.ok(status === 202 || status === 200, JSON.stringify(body));
        sent.push({ message, modelKey, executionId: body.executionId });
        await weir.finish(flow, body.executionId, tenant.key);
      }
    }
    const calling = Promise.all(Array.from({ length: CALLERS }, callAgainAndAgain));
    /** Resolves once callers have come and gone since. */
    const moreCalls = async () => {
      const before = sent.length;
      while (sent.length < before + CALLERS) await Promise.race([calling, setTimeout(20)]);
    };

    await moreCalls();
    apis.push(await startApi());
    await startWorker();
    assert.deepEqual(await Promise.all([api.stop(), worker.stop()]), [0, 0]);
    apis.shift();
    await moreCalls();
    await Promise.all([other.kill(), second.kill()]);
    apis.shift();
    apis.push(await startApi());
    await startWorker();
    await moreCalls();
    rolling = false;
    await calling;

    const runs = await weir.db.selectFrom('run').select(['execution_id', 'status', 'error']).execute();
    assert.deepEqual(runs.map((run) => run.execution_id).sort(), sent.map((run) => run.executionId).sort());
    assert.deepEqual(
      runs.filter((run) => run.status !== 'completed'),
      [],
    );
    const blocks = await weir.db.selectFrom('block_run').select('status').execute();
    assert.equal(blocks.length, sent.length * (LLM_BLOCKS + 1));
    const paying = sent.filter(({ modelKey }) => modelKey === undefined);
    const entries = await weir.db
      .selectFrom('ledger_entry')
      .select(['kind', 'amount_microcredits'])
      .where('organization_id', '=', tenant.organizationId)
      .execute();
    assert.equal(entries.filter(({ kind }) => kind === 'charge').length, paying.length * LLM_BLOCKS);
    const { balance_microcredits } = await weir.db
      .selectFrom('organization')
      .select('balance_microcredits')
      .where('id', '=', tenant.organizationId)
      .executeTakeFirstOrThrow();
    const ledger = entries.reduce((sum, entry) => sum + Number(entry.amount_microcredits), 0);
    assert.equal(balance_microcredits, ledger);
    assert.deepEqual(await weir.db.selectFrom('reservation').select('block_key').execute(), []);
    for (const { message, modelKey } of sent)
      for (const prompt of [`one ${message}`, `two ${message}`])
        assert.deepEqual([...(models.keys.get(prompt) ?? [])], [modelKey ?? SERVICE_KEY]);
  }).timeout(900_000);
});

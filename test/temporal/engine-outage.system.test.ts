import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Client } from '@temporalio/client';
import { askEngine, logEngineOutage } from '../../temporal/ask-engine.ts';
import { GRPC } from '../../temporal/engine-errors.ts';
import { passthrough } from '../blocks.ts';
import { captureLog } from '../capture-log.ts';
import { startTcpProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

describe('an outage of the engine', () => {
  let engine: TcpProxy;
  let weir: Weir;
  before(async () => {
    engine = await startTcpProxy(`http://${process.env.TEST_TEMPORAL_ADDRESS ?? 'localhost:7233'}`);
    weir = await startWeir({ env: { TEMPORAL_ADDRESS: new URL(engine.url).host }, worker: false });
  });
  after(async () => {
    await engine.restore();
    await weir.stop();
    await engine.close();
  });

  for (const [how, begin] of [
    ['silent', () => engine.silence()],
    ['refusing connections', () => engine.refuse()],
    ['resetting connections', () => engine.cut()],
  ] as const)
    it(`that is ${how} is a line when it begins and one when it is over, however many runs meet it`, async () => {
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const start = () =>
        weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'the secret plan' } });
      const captured = captureLog();
      await begin();
      const answers = await Promise.all(Array.from({ length: 5 }, start));
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array.from({ length: 5 }, () => 202),
      );
      await engine.restore();
      // Each minute, a line says that it is still away.
      const told = () => captured.lines.filter(({ msg }) => /^The engine is (?!still)/.test(msg));
      await waitUntil(async () => {
        await start();
        return told().length > 1;
      });
      captured.stop();
      assert.deepEqual(
        told().map(({ level, msg }) => [level, msg]),
        [
          ['warn', 'The engine is away: what needs it fails or waits.'],
          ['info', 'The engine is back.'],
        ],
      );
      const single = captured.lines.filter(({ msg }) => msg === 'A run could not be started yet.');
      assert.ok(single.length >= 5);
      for (const { level } of single) assert.equal(level, 'debug');
      assert.doesNotMatch(JSON.stringify(captured.lines), /secret plan/);
    });
});

describe('an outage of an engine that goes on answering', () => {
  afterEach(() => mock.restoreAll());

  it('lasts until workflows are served again', async () => {
    let now = 100_000;
    mock.method(performance, 'now', () => now);
    const refused = Object.assign(new Error('shard status unknown'), {
      code: GRPC.unavailable,
      details: '',
      metadata: {},
    });
    let describeWorkflow = () => Promise.reject(refused);
    const client = {
      options: { namespace: 'default' },
      withDeadline: (_deadline: number, ask: () => unknown) => ask(),
      workflowService: { describeWorkflowExecution: () => describeWorkflow() },
    } as unknown as Client;
    const captured = captureLog();
    logEngineOutage(refused);
    const ask = async () => {
      now += 5_000;
      await askEngine(client, async () => 'an answer');
      await new Promise(setImmediate);
      return captured.lines.map(({ msg }) => msg);
    };
    assert.deepEqual(await ask(), ['The engine is away: what needs it fails or waits.']);
    describeWorkflow = () => Promise.reject(Object.assign(refused, { code: GRPC.notFound }));
    assert.deepEqual((await ask()).slice(1), ['The engine is back.']);
    captured.stop();
  });
});

import assert from 'node:assert/strict';
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

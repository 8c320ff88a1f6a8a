import assert from 'node:assert/strict';
import { fail, useOperator } from '../cli-harness.ts';

// On a database without a worker: nothing is sent.
describe('weir operator deliveries without a worker', () => {
  const { weir, succeedJson } = useOperator();

  it('records a test delivery to a public address, in the audit log too', async () => {
    const { id } = await succeedJson('deliveries', 'test', 'acme', '--url', 'https://1.1.1.1/hook');
    const delivery = await succeedJson('deliveries', 'show', 'acme', id);
    assert.deepEqual(
      [delivery.status, delivery.targetUrl, JSON.parse(delivery.requestBody).test],
      ['pending', 'https://1.1.1.1/hook', true],
    );
    const [entry] = await succeedJson('audit-log', 'acme', '--action', 'webhook_delivery.test');
    assert.deepEqual(
      [entry.actor, entry.resourceId, entry.details],
      ['operator', id, { event: 'flow.completed', host: '1.1.1.1' }],
    );
  });

  it('refuses an address that is not public', async () => {
    const stderr = await fail(1, weir('deliveries', 'test', 'acme', '--url', 'https://127.0.0.1/'));
    assert.match(stderr, /^--url: is refused: 127\.0\.0\.1 is not at a public address/);
  });

  for (const args of [
    ['test', 'acme'],
    ['test', 'acme', '--url', 'http://example.com/'],
    ['test', 'acme', '--url', 'https://example.com/', '--event', 'flow.began'],
    ['list'],
    ['list', 'acme', '--run', 'x'],
    ['list', 'acme', '--status', 'lost'],
    ['recover', 'acme'],
    ['recover', 'acme', '--since', 'yesterday'],
    ['redeliver', 'acme'],
  ])
    it(`ends with 2 when it is called wrongly: weir operator deliveries ${args.join(' ')}`, async () => {
      await fail(2, weir('deliveries', ...args));
    });
});

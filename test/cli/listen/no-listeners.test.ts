import assert from 'node:assert/strict';
import { getSharedWeir } from '../../shared-weir.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir listen --forward-to a service that takes no listeners', () => {
  it('ends in words, and the address is refused like any that cannot be resolved', async () => {
    const weir = await getSharedWeir();
    try {
      const tenant = await weir.createTenant();
      const env = { WEIR_URL: weir.url, WEIR_API_KEY: tenant.key };
      const refused = weirIn(env, ['listen', '--forward-to', 'http://127.0.0.1:1/']);
      assert.match(
        await fail(1, refused),
        /^This service takes no listeners\. A local one does: run npm start/,
      );
      const flow = await weir.createFlow(tenant, []);
      const callbackUrl = `https://${'0'.repeat(32)}.listen.weir.test/`;
      const { status, body } = await weir.call('POST', `${flow}/jobs`, {
        key: tenant.key,
        body: { message: 'm', callbackUrl },
      });
      assert.equal(status, 422);
      assert.match(body.detail.message, /cannot be resolved/);
    } finally {
      await weir.stop();
    }
  });

  for (const args of [
    ['localhost:3000'],
    ['ftp://localhost/'],
    ['http://localhost/', '--port', '1'],
    ['http://localhost/', 'acme'],
    ['http://localhost/', '--secret', 's'],
  ])
    it(`ends with 2 when it is called wrongly: --forward-to ${args.join(' ')}`, async () => {
      await fail(2, weirIn({}, ['listen', '--forward-to', ...args]));
    });
});

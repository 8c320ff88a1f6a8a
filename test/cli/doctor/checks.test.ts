// The checks of weir doctor that need no service.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkIdentity } from '../../../cli/doctor/checks.ts';
import { runCheck } from '../../../cli/doctor/finding.ts';
import type { Config } from '../../../platform/config/config.ts';

describe('weir doctor looks at', () => {
  it('what does not answer, and says so', async () => {
    const never = new Promise<never>(() => undefined);
    const [found, ...more] = await runCheck({ name: 'engine', look: () => never }, 20);
    assert.equal(found?.message, 'This could not be looked at: nothing answered within 0.02 s.');
    assert.deepEqual(more, []);
  });

  it('an identity provider that cannot be reached, and says why', async () => {
    const look = async (issuer: string) => {
      const oidc = { issuer, audience: 'a', mcpAudience: 'a' } as Config['oidc'];
      return (await checkIdentity({ oidc }))[0]?.message ?? '';
    };
    const server = createServer((_, response) => response.writeHead(302, { location: '/' }).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    assert.match(await look(`http://127.0.0.1:${port}`), /cannot be used: unexpected redirect\.$/);
    server.close();
    await once(server, 'close');
    assert.match(await look(`http://127.0.0.1:${port}`), /cannot be used: the connection was refused\.$/);
    assert.match(await look('http://127.0.0.1:1'), /cannot be used: bad port\.$/);
  });
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir whoami, with nothing in its environment but the service and a credential', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ worker: false, env: { ...provider.env, WEIR_OIDC_AUDIENCE: AUDIENCE } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });
  const whoami = (env: { [name: string]: string }, ...args: string[]) =>
    weirIn({ WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, ...env }, ['whoami', ...args]);

  it('shows an API key and its project', async () => {
    const { code, stdout } = await whoami({ WEIR_API_KEY: tenant.key });
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^API key weir_live_${tenant.keyId} `));
    assert.match(stdout, new RegExp(`^${weir.url}, with the API key in WEIR_API_KEY$`, 'm'));
    assert.match(stdout, new RegExp(`^${tenant.organization}/project$`, 'm'));
  });

  it('shows the user of WEIR_TOKEN, which goes before WEIR_API_KEY', async () => {
    const env = { WEIR_TOKEN: await provider.token('ann'), WEIR_API_KEY: tenant.key };
    const { stdout } = await whoami(env, '--json');
    const { service, credential, kind, userId, organizations } = JSON.parse(stdout);
    assert.equal(credential, 'WEIR_TOKEN');
    assert.deepEqual([service, kind, userId, organizations], [weir.url, 'user', 'ann', []]);
    assert.match((await whoami(env)).stdout, /You belong to no organization\./);
  });

  it('says which credential was refused, and names the request', async () => {
    assert.match(
      await fail(1, whoami({ WEIR_TOKEN: 'a.b.c' })),
      /not for this service\. WEIR_TOKEN was sent: it may have expired\. \(UNAUTHENTICATED, request [0-9a-f-]{36}\)/,
    );
    const refused = await fail(1, whoami({ WEIR_API_KEY: 'weir_live_unknown' }));
    assert.match(refused, /WEIR_API_KEY was sent\./);
    assert.doesNotMatch(refused, /weir_live_unknown/);
  });

  it('says what is missing without a service, and without a credential', async () => {
    assert.match(await fail(1, whoami({ WEIR_URL: '' })), /^No service is known\. /);
    assert.match(await fail(1, whoami({})), /^You are not signed in to the service at http/);
    assert.match(
      await fail(1, whoami({ WEIR_URL: 'weir.example' })),
      /^WEIR_URL must be an http or https URL/,
    );
  });

  it('never repeats a credential that is malformed, nor a password in WEIR_URL', async () => {
    const said = await fail(1, whoami({ WEIR_API_KEY: 'weir_live_se\ncret' }));
    assert.match(said, /^The credential of WEIR_API_KEY is malformed: /);
    assert.doesNotMatch(said, /cret/);
    for (const WEIR_URL of ['https://ann:secret@weir.test', 'ftp://ann:secret@weir.test'])
      assert.equal(
        await fail(1, whoami({ WEIR_URL })),
        'WEIR_URL must have no user, password or query: WEIR_TOKEN and WEIR_API_KEY are for the credential.\n',
      );
    const address = await fail(2, weirIn({}, ['login', 'https://ann:secret@weir.test']));
    assert.match(address, /^The address must have no user, password or query/);
    assert.match(
      await fail(2, weirIn({}, ['login', 'weir.test'])),
      /^The address must be an http or https URL/,
    );
  });

  it('says that an answer of another shape, or a larger one than any of Weir, is not that of Weir', async () => {
    let answer: string | Buffer = '';
    const other = createServer((_request, response) => response.on('error', () => undefined).end(answer));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    try {
      const WEIR_URL = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      for (answer of ['null', '{}', '{"detail":"x"}', '{"kind":"user"}'])
        assert.equal(
          await fail(1, whoami({ WEIR_URL, WEIR_API_KEY: 'weir_live_x' })),
          `The answer of ${WEIR_URL} is not that of a Weir service. Correct WEIR_URL.\n`,
        );
      answer = Buffer.alloc(65 * 1024 * 1024, ' ');
      assert.match(
        await fail(1, whoami({ WEIR_URL, WEIR_API_KEY: 'weir_live_x' })),
        /has over 67108864 bytes: it is not that of a Weir service\.\n$/,
      );
    } finally {
      other.close();
    }
  });

  it('follows no redirect, so that the credential stays with the service', async () => {
    let asked = 0;
    const elsewhere = createServer((_request, response) => {
      asked += 1;
      response.writeHead(307, { location: `${weir.url}/api/v1/me` }).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    try {
      const WEIR_URL = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
      const said = await fail(1, whoami({ WEIR_URL, WEIR_API_KEY: tenant.key }));
      assert.match(
        said,
        /answered with a redirect to http\S+\/api\/v1\/me\. Set WEIR_URL to where the service is/,
      );
      assert.equal(asked, 1);
    } finally {
      elsewhere.close();
    }
  });
});

import assert from 'node:assert/strict';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { insertApiKey, revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { readMessages } from '../../sse.ts';
import { waitUntil } from '../../wait-until.ts';

const PATH = '/api/v1/webhooks/listen';

describe('GET …/webhooks/listen', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ env: { ...provider.env, WEIR_WEBHOOK_LISTENERS: 'on' } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const open = (key: string) => fetch(weir.url + PATH, { headers: { authorization: `Bearer ${key}` } });

  it('is for API keys, and in the API document', async () => {
    assert.equal((await open('weir_live_nothere1_secret')).status, 401);
    const response = await open(await provider.token('ann'));
    assert.equal(response.status, 403);
    assert.match(await response.text(), /takes an API key/);
    const document = await (await fetch(`${weir.url}/openapi.json`)).json();
    const { paths } = document as { paths: object };
    assert.deepEqual(
      Object.keys(paths).filter((path) => path.startsWith(PATH)),
      [PATH, `${PATH}/{requestId}`],
    );
  });

  it('lets in no key without the scope webhooks', async () => {
    const { key } = await createScopedKey(weir, tenant.projectId, 'run', 'read', 'deploy');
    const answers = [
      await weir.call('GET', '/webhooks/listen', { key }),
      await weir.call('POST', '/webhooks/listen/id', { key, body: {} }),
    ];
    for (const { status, body } of answers) {
      assert.equal(status, 403);
      assert.match(body.detail.message, /the scope webhooks/);
    }
  });

  it('gives a key that was revoked nothing more', async () => {
    const { plaintext: key, keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
    const { projectId } = tenant;
    await insertApiKey(weir.db, { projectId, keyId, environment: 'live', name: 'listener', secretHmac });
    const messages = readMessages(await open(key));
    const { data } = (await messages.next()).value ?? assert.fail();
    await weir.db.transaction().execute((tx) => revokeApiKey(tx, projectId, keyId));
    await waitUntil(
      async () => (await weir.call('POST', '/webhooks/listen/id', { key, body: {} })).status === 401,
    );

    const flow = await weir.createFlow(tenant, []);
    const body = { message: 'm', callbackUrl: data.callbackUrl };
    assert.equal((await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body })).status, 202);
    const ended = (await messages.next()).value ?? assert.fail();
    assert.deepEqual([ended.event, ended.data], ['ended', { message: 'The API key is no longer valid.' }]);
    assert.equal((await messages.next()).done, true);
  });

  it('gives an address to each key, and the same one again', async () => {
    const addressOf = async (key: string) => {
      const messages = readMessages(await open(key));
      const { data } = (await messages.next()).value ?? assert.fail();
      await messages.return(undefined);
      return data.callbackUrl;
    };
    const address = await addressOf(tenant.key);
    assert.equal(await addressOf(tenant.key), address);
    assert.notEqual(await addressOf((await weir.createTenant()).key), address);
  });
});

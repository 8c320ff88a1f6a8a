import assert from 'node:assert/strict';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { createApiKeyCache } from '../../../api/auth/api-key-cache.ts';
import { connect } from '../../../db/connect.ts';
import { createNotifications } from '../../../db/notifications.ts';
import { findApiKey } from '../../../db/tenants/api-keys.ts';
import { startTcpProxy } from '../../fakes/tcp-proxy.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('the protection of callers', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWeir({ env: { WEIR_PUBLIC_URL: 'https://weir.test' }, worker: false });
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  for (const [what, path, method] of [
    ['an answer', '/healthz', 'GET'],
    ['a refusal', '/api/v1/organizations', 'GET'],
    ['an unknown path', '/nowhere', 'GET'],
    ['an MCP refusal', '/api/v1/mcp/', 'POST'],
  ] as const)
    it(`is in the headers of ${what}: no sniffing, no storing, https from now on`, async () => {
      const { headers } = await fetch(`${weir.url}${path}`, { method });
      assert.deepEqual(
        ['x-content-type-options', 'cache-control', 'strict-transport-security'].map((name) =>
          headers.get(name),
        ),
        ['nosniff', 'no-store', 'max-age=31536000'],
      );
    });

  it('includes that a known key id with a wrong secret is looked up like an unknown one, also while it is cached', async () => {
    const proxy = await startTcpProxy(weir.config.databaseUrl);
    const db = connect(proxy.url, 2);
    const notifications = createNotifications(weir.config.databaseUrl);
    const keys = createApiKeyCache(db, notifications);
    try {
      const known = await findApiKey(weir.db, tenant.keyId);
      const { keyId: unknown } = mintApiKey('live', weir.config.apiKeyPepper);
      const right = { matches: () => true, id: tenant.keyId };
      assert.deepEqual(await keys.find(right.id, right.matches), known);
      proxy.cut();
      assert.deepEqual(await keys.find(right.id, right.matches), known);
      const wrong = () => false;
      const answers = await Promise.allSettled([keys.find(tenant.keyId, wrong), keys.find(unknown, wrong)]);
      assert.deepEqual(
        answers.map((answer) => answer.status === 'rejected' && answer.reason.name),
        ['ConnectionFailed', 'ConnectionFailed'],
      );
    } finally {
      keys.close();
      await notifications.close();
      await db.destroy();
      await proxy.close();
    }
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createScopedKey } from '../../scoped-key.ts';
import { code, useManagement } from './management-harness.ts';

describe('GET /models', () => {
  const { management, call } = useManagement({ worker: false });
  const list = (query: string, key?: string, headers = {}) =>
    management.weir.call('GET', `/models?${query}`, { key: key ?? management.acme.token.member, headers });
  const own = () => `organization_id=${management.acme.organizationId}`;

  it('lists models with prices in credits and abilities, and whose key the organization uses', async () => {
    const { status, body } = await list(own());
    assert.equal(status, 200);
    const find = (model: string) => body.models.find((one: { model: string }) => one.model === model);
    // The organizations of the tests have a key of their own for openai; the service has none here.
    assert.deepEqual(find('openai/o3-mini'), {
      model: 'openai/o3-mini',
      key: 'organization',
      inputPrice: 0,
      cachedInputPrice: 0,
      cacheWritePrice: 0,
      cacheWriteHourPrice: 0,
      outputPrice: 0,
      longContextPrices: [],
      imagePrice: 0,
      reportedCost: false,
      tiers: { batch: 0.5, flex: 0.5, priority: 2, fast: 2, ultrafast: 3 },
      contextTokens: 200_000,
      images: false,
      tools: true,
      jsonSchema: true,
    });
    assert.equal(find('anthropic/*').key, null);
    const names = body.models.map(({ model }: { model: string }) => model);
    assert.deepEqual(names, names.toSorted());
    await call('DELETE', `/organizations/${management.acme.organizationId}/model-keys/openai`);
    const later = (await list(own())).body.models;
    assert.equal(later.find((one: { model: string }) => one.model === 'openai/o3-mini').key, null);
  });

  it('comes in pages', async () => {
    const all = (await list(own())).body.models;
    const seen: object[] = [];
    let cursor = '';
    do {
      const { body } = await list(`${own()}&limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...body.models);
      cursor = body.nextCursor ?? '';
    } while (cursor);
    assert.deepEqual(seen, all);
  });

  it('answers 304 until something changes', async () => {
    const first = await list(own());
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    const same = await list(own(), undefined, headers);
    assert.deepEqual([same.status, same.body], [304, undefined]);
    await call('DELETE', `/organizations/${management.acme.organizationId}/model-keys/openai`);
    assert.equal((await list(own(), undefined, headers)).status, 200);
  });

  it('is for members, and for keys of the organization with read or deploy', async () => {
    const { acme, weir, provider } = management;
    for (const role of ['owner', 'admin', 'member'] as const)
      assert.equal((await list(own(), acme.token[role])).status, 200, role);
    for (const scope of ['read', 'deploy'] as const)
      assert.equal((await list(own(), (await createScopedKey(weir, acme.projectId, scope)).key)).status, 200);
    assert.deepEqual(code(await list(own(), acme.key)), [403, 'FORBIDDEN']);
    for (const key of ['x.y.z', `weir_live_AAAAAAAA_${'A'.repeat(32)}`])
      assert.deepEqual(code(await list(own(), key)), [401, 'UNAUTHENTICATED']);
    const other = await weir.createTenant();
    const { key: foreignKey } = await createScopedKey(weir, other.projectId, 'read');
    for (const key of [await provider.token(randomUUID()), foreignKey]) {
      const foreign = await list(own(), key);
      const unknown = await list(`organization_id=${randomUUID()}`, key);
      assert.deepEqual(code(foreign), [404, 'NOT_FOUND']);
      assert.deepEqual(foreign.body, unknown.body);
      assert.deepEqual((await list('organization_id=x', key)).body, unknown.body);
    }
  });

  it('refuses a query without an organization', async () => {
    assert.deepEqual(code(await list('')), [422, 'VALIDATION_ERROR']);
  });
});

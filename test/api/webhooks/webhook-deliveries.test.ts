import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { insertApiKey } from '../../../db/tenants/api-keys.ts';
import { insertProject } from '../../../db/tenants/projects.ts';
import { startWebhookWeir, type WebhookWeir } from '../../webhooks.ts';
import { describeWith } from '../../where-available.ts';
import { changeDeliveries, type Delivery, recordDeliveries } from './deliveries-fixture.ts';

describeWith(['openssl'], 'webhook deliveries', () => {
  let weir: WebhookWeir;
  before(async () => {
    weir = await startWebhookWeir({ worker: false });
  });
  after(() => weir.stop());

  describe('GET …/deliveries', () => {
    it('pages newest first, each once, also when all have one timestamp', async () => {
      const tenant = await weir.createTenant();
      const ids = await recordDeliveries(weir, tenant, 7);
      await changeDeliveries(weir, ids.slice(1), { created_at: '2026-01-31T12:00:00.123Z' });
      await changeDeliveries(weir, ids.slice(0, 1), { created_at: '2026-01-31T12:00:00.124Z' });
      const seen: string[] = [];
      let before = '';
      for (let more = true; more; ) {
        const { status, body } = await weir.webhooks(tenant, 'GET', `deliveries?limit=2${before}`);
        assert.equal(status, 200);
        seen.push(...body.deliveries.map(({ id }: Delivery) => id));
        more = body.hasMore;
        assert.equal(body.nextCursor !== null, more);
        if (more) assert(!Number.isNaN(Date.parse(body.nextCursor)));
        before = `&before=${encodeURIComponent(body.nextCursor)}`;
      }
      assert.deepEqual(seen, [ids[0], ...ids.slice(1).reverse()]);
    });

    it('excludes the time before itself, with any offset or none, with and without a time and seconds', async () => {
      const tenant = await weir.createTenant();
      const ids = await recordDeliveries(weir, tenant, 2);
      await changeDeliveries(weir, ids.slice(0, 1), { created_at: '2026-01-31T12:00:00.000Z' });
      await changeDeliveries(weir, ids.slice(1), { created_at: '2026-01-31T12:00:00.001Z' });
      const list = async (before: string, query = encodeURIComponent(before)) => {
        const { body } = await weir.webhooks(tenant, 'GET', `deliveries?before=${query}`);
        return body.deliveries.map(({ id }: Delivery) => ids.indexOf(id));
      };
      assert.deepEqual(await list('2026-01-31T12:00:00Z'), []);
      assert.deepEqual(await list('2026-01-31T12:00:00.001Z'), [0]);
      assert.deepEqual(await list('2026-01-31T12:00:00.0005Z'), [0]);
      assert.deepEqual(await list('2026-01-31T13:00:00.002+01:00'), [1, 0]);
      assert.deepEqual(await list('2026-01-31T12:00:00.001'), [0]);
      assert.deepEqual(await list('2026-01-31T12:00'), []);
      assert.deepEqual(await list('2026-01-31T12:01Z'), [1, 0]);
      assert.deepEqual(await list('2026-01-31T14:01+02:00'), [1, 0]);
      assert.deepEqual(await list('2026-01-31T14:01:00+0200'), [1, 0]);
      assert.deepEqual(await list('2026-01-31T14:01:00+02'), [1, 0]);
      assert.deepEqual(await list('2026-01-31'), []);
      assert.deepEqual(await list('2026-02-01'), [1, 0]);
      const unescaped = '2026-01-31T14:00:00.001+02:00';
      assert.deepEqual(await list(unescaped, unescaped), [0]);
    });

    it('answers the documented records', async () => {
      const tenant = await weir.createTenant();
      const [id] = await recordDeliveries(weir, tenant, 1);
      const { body } = await weir.webhooks(tenant, 'GET', 'deliveries');
      assert.deepEqual(body.deliveries, [
        {
          id,
          eventType: 'flow.failed',
          targetUrl: `https://${weir.hooks[0]?.host}/`,
          status: 'pending',
          attempt: 0,
          responseStatus: null,
          lastAttemptedAt: null,
          errorMessage: null,
          createdAt: body.deliveries[0].createdAt,
        },
      ]);
    });

    it('lists only those with the status, of the event and of the run that it is asked for', async () => {
      const tenant = await weir.createTenant();
      const ids = await recordDeliveries(weir, tenant, 3);
      const flow = await weir.createFlow(tenant, []);
      const run = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: '' } });
      const { executionId } = run.body;
      await changeDeliveries(weir, ids.slice(0, 1), { status: 'dead_letter' });
      await changeDeliveries(weir, ids.slice(1, 2), {
        event_type: 'flow.completed',
        execution_id: executionId,
      });
      const list = async (query: string) => {
        const { body } = await weir.webhooks(tenant, 'GET', `deliveries?${query}`);
        return body.deliveries.map(({ id }: Delivery) => ids.indexOf(id));
      };
      assert.deepEqual(await list('status=dead_letter'), [0]);
      assert.deepEqual(await list('status=pending'), [2, 1]);
      assert.deepEqual(await list('event=flow.completed'), [1]);
      assert.deepEqual(await list('event=flow.failed&status=pending'), [2]);
      assert.deepEqual(await list(`execution_id=${executionId}`), [1]);
      assert.deepEqual(await list(`execution_id=${randomUUID()}`), []);
      assert.deepEqual(await list('status=pending&limit=1'), [2]);
    });

    it('shows the body and the headers of a delivery to no API key of another project', async () => {
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, []);
      const run = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: '' } });
      const [id] = await recordDeliveries(weir, tenant, 1);
      await changeDeliveries(weir, [id as string], {
        execution_id: run.body.executionId,
        project_id: tenant.projectId,
      });
      const { organizationId } = tenant;
      const other = await insertProject(weir.db, { organizationId, slug: 'other', name: 'Other' });
      const { plaintext, keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
      const key = { projectId: other.id, keyId, environment: 'live', name: 'other', secretHmac } as const;
      await weir.db.transaction().execute((tx) => insertApiKey(tx, key));
      const headers = { 'X-Weir-Event': 'flow.failed' };
      const attempt = {
        delivery_id: id as string,
        round: 1,
        attempt: 1,
        request_headers: JSON.stringify(headers),
      };
      await weir.db.insertInto('webhook_attempt').values(attempt).execute();
      const read = async (key: string) => {
        const { body } = await weir.webhooks({ ...tenant, key }, 'GET', `deliveries/${id}`);
        return [body.requestBody, body.attempts[0].requestHeaders];
      };
      assert.deepEqual(await read(tenant.key), ['{}', headers]);
      assert.deepEqual(await read(plaintext), [null, null]);
    });

    it('has 50 on a page unless limit says otherwise, up to 200', async () => {
      const tenant = await weir.createTenant();
      await recordDeliveries(weir, tenant, 60);
      const count = async (query: string) =>
        (await weir.webhooks(tenant, 'GET', `deliveries${query}`)).body.deliveries.length;
      assert.deepEqual([await count(''), await count('?limit=1'), await count('?limit=200')], [50, 1, 60]);
    });

    for (const query of [
      'limit=0',
      'limit=201',
      'limit=x',
      'limit=',
      'limit=1&limit=2',
      'before=yesterday',
      'before=',
      'before=2026-13-01T00:00:00Z',
      'before=2026-01-31T12',
      'before=2026-01-31%2012:00',
      'status=lost',
      'event=flow.started',
      'execution_id=x',
      'url=x',
    ])
      it(`answers 422 that names it to ?${query}`, async () => {
        const { status, body } = await weir.webhooks(await weir.createTenant(), 'GET', `deliveries?${query}`);
        assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
        assert.equal(body.detail.errors[0].field, query.split('=')[0]);
      });

    for (const before of [
      '0001-01-01T00:00:00Z',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999999999999999999999Z',
      '9999-12-31T23:59:59-23:59',
    ])
      it(`takes before=${before}`, async () => {
        const { status } = await weir.webhooks(
          await weir.createTenant(),
          'GET',
          `deliveries?before=${before}`,
        );
        assert.equal(status, 200);
      });
  });
});

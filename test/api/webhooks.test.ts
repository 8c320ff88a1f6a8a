import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { insertTestDelivery } from '../../db/open-deliveries.ts';
import { reconcileDeliveries } from '../../worker/reconcile-deliveries.ts';
import { answerWith, type Received, type WebhookReceiver } from '../fakes/webhook-receiver.ts';
import type { Answer, Tenant } from '../harness.ts';
import { startWebhookWeir, type WebhookWeir } from '../webhooks.ts';
import { describeWith } from '../where-available.ts';

type Delivery = Answer['body'];

describeWith(['openssl'], 'webhook administration', () => {
  let weir: WebhookWeir;
  let hook: WebhookReceiver;
  before(async () => {
    weir = await startWebhookWeir();
    hook = weir.hooks[0] as WebhookReceiver;
  });
  after(() => weir.stop());

  const statusIs = (wanted: string) => (delivery: Delivery) => delivery.status === wanted;
  const record = async (tenant: Tenant, count: number) => {
    const ids = Array.from({ length: count }, () => randomUUID());
    const delivery = { organizationId: tenant.organizationId, url: `https://${hook.host}/`, body: '{}' };
    for (const id of ids) await insertTestDelivery(weir.db, { ...delivery, id, event: 'flow.failed' });
    return ids;
  };
  const change = (ids: string[], changes: object) =>
    weir.db.updateTable('webhook_delivery').set(changes).where('id', 'in', ids).execute();

  describe('GET …/secret', () => {
    it('makes the secret at its first use and answers its record, masked', async () => {
      const tenant = await weir.createTenant();
      const { status, body } = await weir.webhooks(tenant, 'GET', 'secret');
      assert.equal(status, 200);
      assert.match(body.secretPreview, /^whsec_[\w+/]{4}\*{12}$/);
      assert.deepEqual(body, {
        organizationId: tenant.organizationId,
        secretPreview: body.secretPreview,
        version: 1,
        createdAt: new Date(body.createdAt).toISOString(),
        rotatedAt: null,
        graceUntil: null,
      });
      assert.deepEqual((await weir.webhooks(tenant, 'GET', 'secret')).body, body);
    });

    it('makes one secret when many ask at once', async () => {
      const tenant = await weir.createTenant();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => weir.webhooks(tenant, 'GET', 'secret')),
      );
      for (const answer of answers) assert.deepEqual(answer.body, answers[0]?.body);
    });
  });

  describe('POST …/secret/rotate', () => {
    it('answers the new secret in full, and the grace of the one before', async () => {
      const tenant = await weir.createTenant();
      const { body: before } = await weir.webhooks(tenant, 'GET', 'secret');
      const { status, body, headers } = await weir.webhooks(tenant, 'POST', 'secret/rotate');
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.match(body.newSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
      assert.deepEqual(
        [body.previousSecretPreview, body.version, body.organizationId],
        [before.secretPreview, 2, tenant.organizationId],
      );
      assert.equal(Date.parse(body.graceUntil) - Date.parse(body.rotatedAt), 24 * 3_600_000);
      assert.deepEqual((await weir.webhooks(tenant, 'GET', 'secret')).body, {
        organizationId: tenant.organizationId,
        secretPreview: `${body.newSecret.slice(0, 10)}${'*'.repeat(12)}`,
        version: 2,
        createdAt: body.rotatedAt,
        rotatedAt: body.rotatedAt,
        graceUntil: body.graceUntil,
      });
    });

    it('makes the first secret of an organization that has none, with no grace', async () => {
      const { body } = await weir.webhooks(await weir.createTenant(), 'POST', 'secret/rotate');
      assert.deepEqual([body.version, body.previousSecretPreview, body.graceUntil], [1, null, null]);
    });

    it('counts every rotation when many come at once, each with a secret of its own', async () => {
      const tenant = await weir.createTenant();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => weir.webhooks(tenant, 'POST', 'secret/rotate')),
      );
      const versions = answers.map(({ body }) => body.version).sort((a, b) => a - b);
      assert.deepEqual(versions, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const last = answers.find(({ body }) => body.version === 10);
      const { body } = await weir.webhooks(tenant, 'GET', 'secret');
      assert.equal(body.secretPreview.slice(0, 10), last?.body.newSecret.slice(0, 10));
    });

    it('ends the grace after 24 hours', async () => {
      const tenant = await weir.createTenant();
      await weir.rotate(tenant);
      await weir.rotate(tenant);
      await weir.db
        .updateTable('webhook_secret')
        .set({ grace_until: new Date() })
        .where('organization_id', '=', tenant.organizationId)
        .execute();
      assert.equal((await weir.webhooks(tenant, 'GET', 'secret')).body.graceUntil, null);
    });

    it('leaves no secret readable in the database, nor in the histories of deliveries', async () => {
      const tenant = await weir.createTenant();
      const secrets = [await weir.rotate(tenant), await weir.rotate(tenant)];
      const { id } = await weir.sendTest(tenant, hook);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const history = await weir.client.workflow.getHandle(id).fetchHistory();
      const rows = await weir.db.selectFrom('webhook_secret').selectAll().execute();
      const stored = JSON.stringify(rows) + JSON.stringify(history);
      for (const secret of secrets) {
        const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
        for (const form of [secret, bytes.toString('base64'), bytes.toString('hex')])
          assert(!stored.includes(form));
      }
    });
  });

  describe('GET …/deliveries', () => {
    it('pages newest first, each once, also when all have one timestamp', async () => {
      const tenant = await weir.createTenant();
      const ids = await record(tenant, 7);
      await change(ids.slice(1), { created_at: '2026-01-31T12:00:00.123Z' });
      await change(ids.slice(0, 1), { created_at: '2026-01-31T12:00:00.124Z' });
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

    it('takes before strictly, in any offset', async () => {
      const tenant = await weir.createTenant();
      const ids = await record(tenant, 2);
      await change(ids.slice(0, 1), { created_at: '2026-01-31T12:00:00.000Z' });
      await change(ids.slice(1), { created_at: '2026-01-31T12:00:00.001Z' });
      const list = async (before: string) => {
        const { body } = await weir.webhooks(
          tenant,
          'GET',
          `deliveries?before=${encodeURIComponent(before)}`,
        );
        return body.deliveries.map(({ id }: Delivery) => ids.indexOf(id));
      };
      assert.deepEqual(await list('2026-01-31T12:00:00Z'), []);
      assert.deepEqual(await list('2026-01-31T12:00:00.001Z'), [0]);
      assert.deepEqual(await list('2026-01-31T12:00:00.0005Z'), [0]);
      assert.deepEqual(await list('2026-01-31T13:00:00.002+01:00'), [1, 0]);
    });

    it('answers records of the interface', async () => {
      const tenant = await weir.createTenant();
      const [id] = await record(tenant, 1);
      const { body } = await weir.webhooks(tenant, 'GET', 'deliveries');
      assert.deepEqual(body.deliveries, [
        {
          id,
          eventType: 'flow.failed',
          targetUrl: `https://${hook.host}/`,
          status: 'pending',
          attempt: 0,
          responseStatus: null,
          lastAttemptedAt: null,
          errorMessage: null,
          createdAt: body.deliveries[0].createdAt,
        },
      ]);
    });

    it('has 50 on a page unless limit says otherwise, up to 200', async () => {
      const tenant = await weir.createTenant();
      await record(tenant, 60);
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
      'status=pending',
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

  describe('POST …/deliveries/{id}/redeliver', () => {
    it('sends the same id and body anew, freshly signed, also after success', async () => {
      const tenant = await weir.createTenant();
      const received = hook.received.length;
      const { id } = await weir.sendTest(tenant, hook);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const secret = await weir.rotate(tenant);
      const { status, body } = await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
      assert.deepEqual([status, body.id], [202, id]);
      await hook.arrived(received + 2);
      const [first, second] = hook.received.slice(received) as [Received, Received];
      assert.equal(second.headers['x-weir-delivery'], id);
      assert.deepEqual(second.body, first.body);
      const v1 = createHmac('sha256', secret)
        .update(`${second.headers['x-weir-timestamp']}.${second.body}`)
        .digest('hex');
      assert(String(second.headers['x-weir-signature']).includes(`v1=${v1}`));
      const delivery = await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      assert.deepEqual(
        delivery.attempts.map(({ round, attempt }: Delivery) => [round, attempt]),
        [
          [1, 1],
          [2, 1],
        ],
      );
    });

    it('takes the place of what was still to come of earlier attempts', async () => {
      const tenant = await weir.createTenant();
      hook.will(answerWith(503));
      const { id } = await weir.sendTest(tenant, hook);
      await weir.pendingAttempt(id, 2);
      await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`);
      await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const received = hook.received.length;
      await weir.attemptNow(id);
      await weir.client.workflow.getHandle(id).result();
      assert.equal(hook.received.length, received);
    });
  });

  describe('POST …/recover', () => {
    it('sends the failed ones of a time anew, of one status or both', async () => {
      const tenant = await weir.createTenant();
      const [early, dead, permanent, succeeded, late] = (await record(tenant, 5)) as [
        string,
        string,
        string,
        string,
        string,
      ];
      await change([early, dead, late], { status: 'dead_letter', attempt: 6 });
      await change([permanent], { status: 'failed_permanent', attempt: 1 });
      await change([succeeded], { status: 'succeeded', attempt: 1 });
      await change([dead, permanent, succeeded], { created_at: '2026-01-31T12:00:00Z' });
      await change([early], { created_at: '2026-01-31T11:59:59.999Z' });
      const recover = async (status?: string) => {
        const times = { since: '2026-01-31T12:00:00Z', until: '2026-01-31T12:00:00.001Z' };
        const answer = await weir.webhooks(tenant, 'POST', 'recover', { ...times, status });
        assert.equal(answer.status, 202);
        return answer.body;
      };
      assert.deepEqual(await recover('dead_letter'), { recovered: 1, hasMore: false });
      assert.deepEqual(await recover(), { recovered: 1, hasMore: false });
      await reconcileDeliveries({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue });
      for (const id of [dead, permanent]) await weir.deliveryWhen(tenant, statusIs('succeeded'), id);
      const { body } = await weir.webhooks(tenant, 'GET', 'deliveries');
      assert.equal(body.deliveries.filter(statusIs('dead_letter')).length, 2);
    });

    for (const body of [
      {},
      { since: 'x' },
      { since: '2026-01-31T12:00:00Z', status: 'pending' },
      { since: '2026-01-31T12:00:00Z', other: 1 },
    ])
      it(`answers 422 to ${JSON.stringify(body)}`, async () => {
        const { status } = await weir.webhooks(await weir.createTenant(), 'POST', 'recover', body);
        assert.equal(status, 422);
      });
  });

  it('leave an entry in the audit log for each request to send anew or a test', async () => {
    const tenant = await weir.createTenant();
    const { id } = await weir.sendTest(tenant, hook);
    const answers = [
      await weir.webhooks(tenant, 'POST', `deliveries/${id}/redeliver`),
      await weir.webhooks(tenant, 'POST', 'recover', { since: '2026-01-31T12:00:00Z' }),
    ];
    await weir.webhooks(tenant, 'POST', `deliveries/${randomUUID()}/redeliver`);
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action', 'resource_id', 'request_id'])
      .where('organization_id', '=', tenant.organizationId)
      // The first delivery makes the signing secret.
      .where('action', '<>', 'webhook_secret.create')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ action, resource_id }) => [action, resource_id]),
      [
        ['webhook_delivery.test', id],
        ['webhook_delivery.redeliver', id],
        ['webhook_delivery.recover', tenant.organizationId],
      ],
    );
    assert.ok(entries.every(({ actor }) => actor === `api_key/${tenant.keyId}`));
    assert.deepEqual(
      entries.slice(1).map(({ request_id }) => request_id),
      answers.map(({ headers }) => headers.get('x-request-id')),
    );
  });

  describe('POST …/test', () => {
    it('delivers a made-up event that says so', async () => {
      const tenant = await weir.createTenant();
      const received = hook.received.length;
      const { status, body } = await weir.webhooks(tenant, 'POST', 'test', {
        url: `https://${hook.host}/hook`,
        event: 'flow.failed',
      });
      assert.deepEqual([status, body.eventType], [202, 'flow.failed']);
      await hook.arrived(received + 1);
      const sent = JSON.parse(String(hook.received.at(-1)?.body));
      assert.deepEqual([sent.event, sent.test, sent.failureReason], ['flow.failed', true, 'error']);
    });

    for (const body of [
      {},
      { url: 'http://example.com' },
      { url: 'https://127.0.0.1/' },
      { url: 'https://example.com/', event: 'x' },
    ])
      it(`answers 422 to ${JSON.stringify(body)}`, async () => {
        const { status } = await weir.webhooks(await weir.createTenant(), 'POST', 'test', body);
        assert.equal(status, 422);
      });
  });

  describe('access', () => {
    const id = randomUUID();
    const routes: [string, string][] = [
      ['GET', 'secret'],
      ['POST', 'secret/rotate'],
      ['GET', 'deliveries'],
      ['GET', `deliveries/${id}`],
      ['POST', `deliveries/${id}/redeliver`],
      ['POST', 'recover'],
      ['POST', 'test'],
    ];
    for (const [method, path] of routes)
      it(`${method} ${path.replace(id, '{id}')}: 401 without a key, the same 403 for a foreign and an unknown organization, 404 for no id`, async () => {
        const [tenant, foreign] = [await weir.createTenant(), await weir.createTenant()];
        const send = (organizationId: string, key?: string) =>
          weir.call(method, `../organizations/${organizationId}/webhooks/${path}`, {
            key,
            ...(method === 'POST' && { body: {} }),
          });
        assert.equal((await send(tenant.organizationId)).status, 401);
        assert.equal((await send(tenant.organizationId, 'weir_live_x')).status, 401);
        const [known, unknown] = [
          await send(foreign.organizationId, tenant.key),
          await send(randomUUID(), tenant.key),
        ];
        assert.deepEqual([known.status, known.body.detail.code], [403, 'FORBIDDEN']);
        assert.deepEqual([unknown.status, unknown.body], [known.status, known.body]);
        for (const malformed of ['nonsense', '%00', `${id}x`])
          assert.equal((await send(malformed, tenant.key)).status, 404);
        assert.notEqual((await send(tenant.organizationId.toUpperCase(), tenant.key)).status, 403);
      });

    it('answers the same 404 for a foreign delivery, an unknown one and what is no id', async () => {
      const [tenant, foreign] = [await weir.createTenant(), await weir.createTenant()];
      const [theirs = ''] = await record(foreign, 1);
      for (const path of ['', '/redeliver']) {
        const method = path === '' ? 'GET' : 'POST';
        const answers = await Promise.all(
          [theirs, randomUUID(), 'nonsense', '%00'].map((one) =>
            weir.webhooks(tenant, method, `deliveries/${one}${path}`),
          ),
        );
        for (const answer of answers) assert.deepEqual([answer.status, answer.body], [404, answers[0]?.body]);
      }
      const { body } = await weir.webhooks(foreign, 'GET', `deliveries/${theirs}`);
      assert.deepEqual([body.status, body.attempts], ['pending', []]);
    });
  });
});

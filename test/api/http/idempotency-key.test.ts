import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { apiRoutes } from '../../../api/app.ts';
import { takesNoIdempotencyKey, writesOnce } from '../../../api/http/idempotency-key.ts';
import { updateDraft } from '../../../db/flows/flows.ts';
import { deleteExpiredResults, reencryptKeptResults } from '../../../db/tenants/kept-results.ts';
import { createEncryption } from '../../../platform/secrets/encrypt.ts';
import { passthrough } from '../../blocks.ts';
import { code, useManagement } from '../organizations/management-harness.ts';

describe('Idempotency-Key of management requests', () => {
  const { management } = useManagement();

  const send = (path: string, body: unknown, key: string, token = management.acme.token.owner) =>
    management.weir.call('POST', path, { key: token, body, headers: { 'idempotency-key': key } });
  const project = (suffix: string) => `/projects/${management.acme.projectId}${suffix}`;
  const flow = (suffix: string) => project(`/flows/${management.acme.flowId}${suffix}`);
  const organization = (suffix: string) => `/organizations/${management.acme.organizationId}${suffix}`;

  it('gets the first answer again, with secrets that are shown once, and nothing is done twice', async () => {
    const slug = `new-${randomUUID()}`;
    await updateDraft(management.weir.db, management.acme.flowId, { steps: [passthrough('a')] });
    const requests: [string, unknown][] = [
      ['/organizations', { name: 'New', slug }],
      ['/projects', { name: 'New', slug, organization_id: management.acme.organizationId }],
      [organization('/members'), { user_id: 'newcomer', role: 'member' }],
      [organization('/invitations'), { email: 'new@example.com', role: 'member' }],
      [organization('/webhooks/secret/rotate'), undefined],
      [project('/api-keys'), { name: 'key', environment: 'live' }],
      [project('/flows'), { name: 'New', slug }],
      [flow('/versions'), { note: 'once' }],
      [flow('/test-cases'), { name: 'new', message: 'm', expectation: { type: 'contains', text: 'm' } }],
      [flow('/test-runs'), {}],
    ];
    for (const [path, body] of requests) {
      const answers = await Promise.all([1, 2, 3].map(() => send(path, body, path)));
      const [first, ...others] = answers.map(({ status, body: { status: _, pending: __, ...rest } }) => ({
        status,
        rest,
      }));
      assert.ok([200, 201, 202].includes(first?.status ?? 0), `${path} ${JSON.stringify(answers[0]?.body)}`);
      if (path.endsWith('/test-runs')) {
        const ids = new Set(answers.map(({ body }) => body.test_run_id));
        assert.equal(ids.size, 1, path);
      } else for (const other of others) assert.deepEqual(other, first, path);
      const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
      assert.equal(replayed.length, 2, path);
    }
    const keys = await management.weir.db
      .selectFrom('api_key')
      .select('key_id')
      .where('project_id', '=', management.acme.projectId)
      .where('name', '=', 'key')
      .execute();
    assert.equal(keys.length, 1);
    const { rows } = await sql<{ result: string }>`
      select result from kept_result where path = ${`/api/v1${project('/api-keys')}`}`.execute(
      management.weir.db,
    );
    assert.doesNotMatch(rows[0]?.result ?? '', /weir_live_/);
  });

  it('publishes once, although the draft changed meanwhile', async () => {
    const setDraft = (id: string) =>
      updateDraft(management.weir.db, management.acme.flowId, { steps: [passthrough(id)] });
    await setDraft('a');
    const first = await send(flow('/versions'), {}, 'k');
    await setDraft('b');
    const again = await send(flow('/versions'), {}, 'k');
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal((await send(flow('/versions'), {}, 'other')).body.version, 3);
  });

  it('is refused with another request, belongs to its caller and path, and does not keep a refusal', async () => {
    const body = { name: 'New', slug: 'first' };
    assert.equal((await send(project('/flows'), body, 'k')).status, 201);
    const reused = await send(project('/flows'), { ...body, slug: 'second' }, 'k');
    assert.deepEqual(code(reused), [409, 'IDEMPOTENCY_KEY_REUSED']);
    const { admin } = management.acme.token;
    assert.deepEqual(code(await send(project('/flows'), body, 'k', admin)), [409, 'CONFLICT']);
    assert.equal((await send(project('/flows'), { ...body, slug: 'third' }, 'k', admin)).status, 201);
    const malformed = await send(project('/flows'), { ...body, slug: 'fourth' }, 'a b');
    assert.deepEqual(code(malformed), [422, 'VALIDATION_ERROR']);
  });

  it('is forgotten after 24 hours, and stays readable under a new key of the service', async () => {
    const { db } = management.weir;
    const create = () => send(project('/flows'), { name: 'New', slug: 'kept' }, 'k');
    const first = await create();
    const before = await db.selectFrom('kept_result').select('result').where('key', '=', 'k').execute();
    const encryption = createEncryption(management.weir.config.secretsKeys);
    await db.transaction().execute((tx) => reencryptKeptResults(tx, encryption));
    const after = await db.selectFrom('kept_result').select('result').where('key', '=', 'k').execute();
    assert.notDeepEqual(after, before);
    assert.deepEqual((await create()).body, first.body);
    const path = `/api/v1${project('/flows')}`;
    await sql`update kept_result set created_at = created_at - interval '24 hours' where path = ${path}`.execute(
      db,
    );
    assert.deepEqual(code(await create()), [409, 'CONFLICT']);
    await deleteExpiredResults(db, 1_000);
    const left = await db.selectFrom('kept_result').select('key').where('path', '=', path).execute();
    assert.deepEqual(left, []);
  });

  it('is refused by a POST that creates nothing', async () => {
    const routes = apiRoutes(management.weir as never).filter(({ method }) => method === 'post');
    const refusing = routes
      .filter(takesNoIdempotencyKey)
      .map(({ path }) => path.split('/').slice(-2).join('/'));
    assert.deepEqual(refusing, [
      ':executionId/cancel',
      ':bulk_id/cancel',
      'runs/cancel',
      ':test_run_id/cancel',
      'test-runs/cancel',
    ]);
    assert.ok(routes.filter(writesOnce).length >= 14);
    const refused = await send(project('/runs/cancel'), {}, 'k');
    assert.deepEqual(code(refused), [422, 'VALIDATION_ERROR']);
    assert.equal(refused.body.detail.errors[0].field, 'Idempotency-Key');
  });
});

// Model keys that callers bring, and what becomes of them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { decryptModelKey, decryptSentKey, setModelKey } from '../../../db/tenants/model-keys.ts';
import { createEncryption } from '../../../platform/secrets/encrypt.ts';
import { llm } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import {
  answer,
  type FakeModelServer,
  hang,
  respond,
  startFakeModelServer,
} from '../../fakes/model-server.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';

const OWN = 'sk-own-key-of-acme';
const SENT = 'sk-key-of-one-request';

describe('own model keys', () => {
  let models: FakeModelServer;
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let flow: string;
  before(async () => {
    models = await startFakeModelServer();
    provider = await startIdentityProvider();
    const env = { DEMO_BASE_URL: models.provider.baseUrl, DEMO_API_KEY: 'key-of-the-service' };
    weir = await startWeir({ env: { ...provider.env, ...env } });
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
    flow = await weir.createFlow(acme, [llm('ask', 'Hello', 'demo/chat')]);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
    await models.close();
  });

  const path = (name = 'demo') => `/organizations/${acme.organizationId}/model-keys/${name}`;
  const setKey = (body: unknown = { key: OWN }) => weir.call('PUT', path(), { key: acme.token.admin, body });
  const execute = (header?: string) =>
    weir.call('POST', `${flow}/execute`, {
      key: acme.key,
      body: { message: '' },
      ...(header !== undefined && { headers: { 'x-weir-model-key': header } }),
    });
  const lastKey = () => models.calls.at(-1)?.headers.authorization;
  const cost = async (executionId: string) =>
    (await weir.call('GET', `${flow}/jobs/${executionId}`, { key: acme.key })).body.cost;
  const getStoredKey = () =>
    weir.db
      .selectFrom('run')
      .select(['execution_id as callId', sql<string>`model_keys ->> 'demo'`.as('secret')])
      .where('organization_id', '=', acme.organizationId)
      .where('model_keys', 'is not', null)
      .executeTakeFirstOrThrow();
  /** All that is stored, row by row. */
  const everything = async () => {
    const tables = await sql<{ name: string }>`
      select format('%I', table_name) as name from information_schema.tables where table_schema = 'public'
    `.execute(weir.db);
    const rows = tables.rows.map(({ name }) =>
      sql`select to_json(stored) as row from ${sql.raw(name)} stored`.execute(weir.db),
    );
    return JSON.stringify(await Promise.all(rows));
  };

  it('of the organization are used instead of the service’s, uncharged, from the next call on', async () => {
    models.will(answer('paid'), answer('own'), answer('paid'));
    const paid = await execute();
    assert.equal(lastKey(), 'Bearer key-of-the-service');
    assert.ok((await cost(paid.body.executionId)) > 0);
    assert.equal((await setKey()).status, 200);
    const own = await execute();
    assert.deepEqual([own.body.result, lastKey()], ['own', `Bearer ${OWN}`]);
    assert.equal(await cost(own.body.executionId), 0);
    assert.equal((await weir.call('DELETE', path(), { key: acme.token.admin })).status, 204);
    await execute();
    assert.equal(lastKey(), 'Bearer key-of-the-service');
  });

  it('are checked by one request when they are set, and stored whatever it says', async () => {
    const check = async () => {
      const set = { key: acme.token.admin, body: { key: OWN } };
      const { status, body } = await weir.call('PUT', `${path()}?check=true`, set);
      assert.equal(status, 200);
      return [body.check.result, lastKey()];
    };
    models.will(answer('Hello'), respond(404, { error: { message: 'No such model.' } }));
    assert.deepEqual(await check(), ['accepted', `Bearer ${OWN}`]);
    assert.deepEqual(await check(), ['accepted', `Bearer ${OWN}`]);
    models.will(respond(401, { error: { message: 'Wrong key.' } }), respond(503, {}));
    assert.deepEqual(await check(), ['rejected', `Bearer ${OWN}`]);
    assert.deepEqual(await check(), ['unknown', `Bearer ${OWN}`]);
    assert.equal((await weir.call('GET', path(), { key: acme.token.admin })).status, 200);
    const before = models.calls.length;
    assert.equal((await setKey()).body.check, undefined);
    assert.equal(models.calls.length, before);
  });

  it('of another organization are not used', async () => {
    await setKey();
    const other = await weir.createTenant();
    const theirs = await weir.createFlow(other, [llm('ask', 'Hello', 'demo/chat')]);
    models.will(answer('paid'));
    await weir.call('POST', `${theirs}/execute`, { key: other.key, body: { message: '' } });
    assert.equal(lastKey(), 'Bearer key-of-the-service');
  });

  it('of a request come before those of the organization, only for its run', async () => {
    await setKey();
    models.will(answer('sent'), answer('own'));
    assert.equal((await execute(`demo=${SENT}`)).body.result, 'sent');
    assert.equal(lastKey(), `Bearer ${SENT}`);
    await execute();
    assert.equal(lastKey(), `Bearer ${OWN}`);
  });

  it('of a request are stored encrypted while its call is in flight, and nowhere else, nor are they logged', async () => {
    const captured = captureLog();
    models.will(hang);
    const called = models.nextCall();
    const ended = execute(`demo=${SENT}`);
    const response = await called;
    const during = await everything();
    const { callId, secret } = await getStoredKey();
    answer('late')(response);
    const { executionId } = (await ended).body;
    assert.equal(executionId, callId);
    const history = await weir.client.workflow.getHandle(executionId).fetchHistory();
    captured.stop();
    const texts = [during, await everything(), JSON.stringify(history), JSON.stringify(captured.lines)];
    for (const text of texts) assert.ok(!text.includes(SENT));
    assert.match(secret, /^test:/);
    assert.deepEqual(
      texts.map((text) => text.includes(secret)),
      [true, false, false, false],
    );
  });

  it('of a request are bound to their call and provider: copied elsewhere they cannot be read', async () => {
    models.will(hang);
    const called = models.nextCall();
    const ended = execute(`demo=${SENT}`);
    const response = await called;
    const key = { ...(await getStoredKey()), provider: 'demo' };
    answer('late')(response);
    await ended;
    const encryption = createEncryption(weir.config.secretsKeys);
    assert.equal(decryptSentKey(encryption, key), SENT);
    assert.throws(() => decryptSentKey(encryption, { ...key, callId: randomUUID() }));
    assert.throws(() => decryptSentKey(encryption, { ...key, provider: 'openai' }));
  });

  it('that the provider rejects end the run with byok_rejected, without being repeated anywhere', async () => {
    models.will(respond(401, { error: { message: `Incorrect API key provided: ${SENT}` } }));
    const { body } = await execute(`demo=${SENT}`);
    assert.deepEqual([body.status, body.failureReason], ['failed', 'byok_rejected']);
    assert.ok(!JSON.stringify(body).includes(SENT));
    assert.ok(!(await everything()).includes(SENT));
  });

  it('of the service that the provider rejects end the run with an error', async () => {
    models.will(respond(401, { error: { message: 'Incorrect API key' } }));
    assert.equal((await execute()).body.failureReason, 'error');
  });

  it('are masked wherever they are shown, and stored encrypted', async () => {
    const set = await setKey();
    assert.deepEqual([set.body.provider, set.body.keyPreview], ['demo', '…acme']);
    const one = await weir.call('GET', path(), { key: acme.token.owner });
    assert.deepEqual(one.body, set.body);
    const list = await weir.call('GET', `/organizations/${acme.organizationId}/model-keys`, {
      key: acme.token.owner,
    });
    assert.deepEqual(list.body, { modelKeys: [set.body, { ...set.body, ...list.body.modelKeys[1] }] });
    assert.ok(!(await everything()).includes(OWN));
  });

  it('are masked entirely when they are short', async () => {
    const { body } = await setKey({ key: 'sk-short-q7' });
    assert.equal(body.keyPreview, '…');
    assert.ok(!(await everything()).includes('t-q7'));
  });

  it('can be deleted when the service no longer has their provider', async () => {
    const { organizationId } = acme;
    const key = { organizationId, provider: 'gone', secret: OWN, userId: 'ada' };
    await weir.db
      .transaction()
      .execute((tx) => setModelKey(tx, createEncryption(weir.config.secretsKeys), key));
    const remove = (name: string) => weir.call('DELETE', path(name), { key: acme.token.admin });
    assert.equal((await remove('gone')).status, 204);
    for (const name of ['gone', '%00', 'constructor']) assert.equal((await remove(name)).status, 404, name);
  });

  it('are bound to their organization: copied to another row they cannot be read', async () => {
    await setKey();
    const other = await createOrganization(weir, provider);
    await weir.db
      .insertInto('model_key')
      .columns(['organization_id', 'provider', 'secret', 'preview', 'created_by'])
      .expression((eb) =>
        eb
          .selectFrom('model_key')
          .select((row) => [
            row.val(other.organizationId).as('organization_id'),
            'provider',
            'secret',
            'preview',
            'created_by',
          ])
          .where('organization_id', '=', acme.organizationId)
          .where('provider', '=', 'demo'),
      )
      .execute();
    const { secret } = await weir.db
      .selectFrom('model_key')
      .select('secret')
      .where('organization_id', '=', other.organizationId)
      .where('provider', '=', 'demo')
      .executeTakeFirstOrThrow();
    const encryption = createEncryption(weir.config.secretsKeys);
    const key = (organizationId: string) => ({ organizationId, provider: 'demo', secret });
    assert.equal(decryptModelKey(encryption, key(acme.organizationId)), OWN);
    assert.throws(() => decryptModelKey(encryption, key(other.organizationId)));
  });

  it('are refused for unknown providers, and when malformed', async () => {
    assert.equal(
      (await weir.call('PUT', path('evil'), { key: acme.token.admin, body: { key: OWN } })).status,
      404,
    );
    for (const body of [
      {},
      { key: '' },
      { key: 'a b' },
      { key: 'ключ' },
      { key: OWN, baseUrl: 'http://evil' },
    ])
      assert.equal((await setKey(body)).status, 422, JSON.stringify(body));
    for (const header of [
      'demo',
      'evil=key',
      `demo=${'x'.repeat(501)}`,
      '=',
      'demo=a b',
      'demo=',
      'toString=x',
      'demo=a,demo=b',
    ]) {
      const { status, body } = await execute(header);
      assert.deepEqual([status, body.detail?.code], [422, 'VALIDATION_ERROR'], header);
      assert.equal(body.detail.errors[0].field, 'X-Weir-Model-Key');
    }
  });
});

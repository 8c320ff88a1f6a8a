import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { sql } from 'kysely';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

describe('a fault of the service', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const getSecret = () =>
    weir.call('GET', `/organizations/${tenant.organizationId}/webhooks/secret`, { key: tenant.key });

  it('such as a missing encryption key is a 500 with a reference, under which the log names the key', async () => {
    assert.equal((await getSecret()).status, 200);
    await sql`update webhook_secret set current_secret = regexp_replace(current_secret, '^[^:]+', 'dropped')`.execute(
      weir.db,
    );
    const log = mock.method(console, 'error', () => undefined);
    const { status, headers, body } = await getSecret();
    log.mock.restore();
    assert.equal(status, 500);
    const id = headers.get('x-request-id');
    assert.deepEqual(body.detail, {
      code: 'INTERNAL_ERROR',
      message: 'Something failed inside the service. Nothing is wrong with the request.',
      request_id: id,
    });
    const logged = log.mock.calls.map(({ arguments: words }) => words.map(String).join(' '));
    assert.equal(logged.length, 1);
    assert.match(logged[0] ?? '', new RegExp(`${id}.*dropped, which is not in WEIR_SECRETS_KEYS`));
  });

  it('in the database is not shown: no text of PostgreSQL, and one line in the log', async () => {
    const flow = await weir.createFlow(tenant, []);
    await sql`alter table run rename column mode to mode_`.execute(weir.db);
    const log = mock.method(console, 'error', () => undefined);
    const answer = await weir.call('GET', `${flow}/runs`, { key: tenant.key });
    log.mock.restore();
    await sql`alter table run rename column mode_ to mode`.execute(weir.db);
    assert.deepEqual([answer.status, answer.body.detail.code], [500, 'INTERNAL_ERROR']);
    assert.doesNotMatch(JSON.stringify(answer.body), /column|mode/);
    assert.equal(log.mock.callCount(), 1);
  });
});

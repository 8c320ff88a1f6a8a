import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { captureLog } from '../../capture-log.ts';
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
    const { lines, stop } = captureLog();
    const { status, headers, body } = await getSecret();
    stop();
    assert.equal(status, 500);
    const id = headers.get('x-request-id');
    assert.deepEqual(body.detail, {
      code: 'INTERNAL_ERROR',
      message: 'Something failed inside the service. Nothing is wrong with the request.',
      request_id: id,
    });
    const [error, ...others] = lines.filter(({ level }) => level === 'error');
    assert.deepEqual([error?.request_id, error?.organization_id, others], [id, tenant.organizationId, []]);
    assert.match(JSON.stringify(error?.err), /dropped, which is not in WEIR_SECRETS_KEYS/);
  });

  it('in the database is not shown: no text of PostgreSQL, and one line in the log', async () => {
    const flow = await weir.createFlow(tenant, []);
    await sql`alter table run rename column mode to mode_`.execute(weir.db);
    const { lines, stop } = captureLog();
    const answer = await weir.call('GET', `${flow}/runs`, { key: tenant.key });
    stop();
    await sql`alter table run rename column mode_ to mode`.execute(weir.db);
    assert.deepEqual([answer.status, answer.body.detail.code], [500, 'INTERNAL_ERROR']);
    assert.doesNotMatch(JSON.stringify(answer.body), /column|mode/);
    assert.equal(lines.filter(({ level }) => level === 'error').length, 1);
  });
});

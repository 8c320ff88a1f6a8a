import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { grantCredits } from '../../../db/credits/ledger.ts';
import { deleteExpiredKeys } from '../../../db/runs/idempotency-keys.ts';
import { insertApiKey } from '../../../db/tenants/api-keys.ts';
import { acceptRun } from '../../accept-run.ts';
import { code } from '../../blocks.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe('Idempotency-Key', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await startWeir();
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [code('work', 'return { message, parameters };')]);
  });
  after(() => weir.stop());

  type Sent = { body?: unknown; apiKey?: string; path?: string; url?: string };
  const send = (key: string, { body = { message: 'm' }, apiKey = tenant.key, path, url }: Sent = {}) =>
    weir.call('POST', path ?? `${flow}/execute`, {
      key: apiKey,
      body,
      headers: { 'idempotency-key': key },
      ...(url !== undefined && { url }),
    });
  const replayed = ({ headers }: { headers: Headers }) => headers.get('idempotent-replayed');
  const runs = () =>
    weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('organization_id', '=', tenant.organizationId)
      .execute();
  /** Resolves once a run is accepted. */
  const accepted = () => waitUntil(async () => (await runs()).length > 0);

  describe('200', () => {
    it('answers a repeated /execute with the same run and reply', async () => {
      const first = await send('k', { body: { message: 'm', parameters: { a: 1, b: { c: 2, d: [] } } } });
      const again = await send('k', { body: { parameters: { b: { d: [], c: 2 }, a: 1 }, message: 'm' } });
      assert.deepEqual([first.status, again.status], [200, 200]);
      assert.equal(first.body.status, 'completed');
      assert.deepEqual(again.body, first.body);
      assert.deepEqual([replayed(first), replayed(again)], [null, 'true']);
      assert.equal((await runs()).length, 1);
    });

    it('takes a field that is null for one that was left out', async () => {
      const body = { message: 'm' };
      const withNulls = { ...body, parameters: null, callbackUrl: null, callbackEvents: null };
      for (const [first, again] of [
        [body, withNulls],
        [withNulls, body],
      ]) {
        const key = JSON.stringify(first);
        assert.equal((await send(key, { body: first })).status, 200);
        assert.equal(replayed(await send(key, { body: again })), 'true');
      }
    });

    it('answers a repeated /execute with the same large result, and with the same failure', async () => {
      for (const source of ['return "x".repeat(100_000);', 'throw new Error("no luck");', 'return null;']) {
        const path = `${await weir.createFlow(tenant, [code('work', source)])}/execute`;
        const first = await send(path, { path });
        assert.deepEqual((await send(path, { path })).body, first.body);
      }
    });

    it('makes a request wait for the run of the first, and gives both the same answer', async () => {
      await weir.stopWorker();
      const first = send('k');
      await accepted();
      const second = send('k');
      await weir.startWorker();
      const answers = await Promise.all([first, second]);
      assert.deepEqual(answers[1].body, answers[0].body);
      assert.deepEqual(answers.map(replayed), [null, 'true']);
      assert.equal((await runs()).length, 1);
    });

    it('gives 20 simultaneous requests at two API processes one run', async () => {
      const second = await startApiProcess(weir);
      try {
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => send('k', { url: index % 2 ? weir.url : second.url })),
        );
        for (const { status, body } of answers) {
          assert.equal(status, 200);
          assert.deepEqual(body, answers[0]?.body);
        }
        assert.equal(answers.filter((answer) => replayed(answer) === null).length, 1);
        assert.equal((await runs()).length, 1);
      } finally {
        await second.stop();
      }
    });

    it('answers the accepted run after a kill -9 of the API before its reply, without waiting for the reconciler', async () => {
      await weir.stopWorker();
      const doomed = await startApiProcess(weir);
      const lost = assert.rejects(send('k', { url: doomed.url }));
      await accepted();
      await doomed.kill();
      await lost;
      const [run] = await runs();
      await weir.startWorker();
      const answer = await send('k');
      assert.deepEqual([answer.status, answer.body.status], [200, 'completed']);
      assert.equal(answer.body.executionId, run?.execution_id);
      assert.equal(replayed(answer), 'true');
      assert.equal((await runs()).length, 1);
    });

    it('starts the workflow of a run that was accepted and never started', async () => {
      const { executionId } = (await send('k')).body;
      const { executionId: orphan } = await acceptRun(weir, tenant, flow, { mode: 'execute' });
      await weir.db
        .updateTable('idempotency_key')
        .set({ execution_id: orphan })
        .where('execution_id', '=', executionId)
        .execute();
      const { body } = await send('k');
      assert.deepEqual([body.executionId, body.status], [orphan, 'completed']);
    });

    it('replays a run although no credits are left', async () => {
      const first = await send('k');
      await sql`update organization set balance_microcredits = 0 where id = ${tenant.organizationId}`.execute(
        weir.db,
      );
      assert.deepEqual((await send('k')).body, first.body);
      assert.equal((await send('other')).status, 402);
    });

    it('does not keep a refusal', async () => {
      tenant = await weir.createTenant({ credits: 0 });
      flow = await weir.createFlow(tenant, []);
      assert.equal((await send('k')).status, 402);
      await grantCredits(weir.db, tenant.organizationId, 1, 'grant/late');
      const answer = await send('k');
      assert.deepEqual([answer.status, replayed(answer)], [200, null]);
    });

    it('stands for one run in each project and endpoint', async () => {
      const first = await send('k');
      const job = await send('k', { path: `${flow}/jobs` });
      assert.deepEqual([job.status, replayed(job)], [202, null]);
      assert.notEqual(job.body.executionId, first.body.executionId);
      const other = await weir.createTenant();
      const path = `${await weir.createFlow(other, [])}/execute`;
      const foreign = await send('k', { path, apiKey: other.key });
      assert.deepEqual([foreign.status, replayed(foreign)], [200, null]);
    });

    it('starts a new run after 24 hours; expired keys are deleted, the oldest first, a bounded number at once', async () => {
      const first = await send('k');
      await send('young');
      await send('older');
      const age = (key: string, hours: number) =>
        sql`update idempotency_key set created_at = created_at - ${hours} * interval '1 hour'
          where project_id = ${tenant.projectId} and key = ${key}`.execute(weir.db);
      const keys = async () => {
        const rows = await weir.db
          .selectFrom('idempotency_key')
          .select('key')
          .where('project_id', '=', tenant.projectId)
          .orderBy('key')
          .execute();
        return rows.map(({ key }) => key);
      };
      await age('young', 23);
      await age('k', 24);
      const later = await send('k');
      assert.equal(replayed(later), null);
      assert.notEqual(later.body.executionId, first.body.executionId);
      assert.equal(replayed(await send('k')), 'true');

      // No reconciler deletes them first.
      await weir.stopWorker();
      await age('k', 24);
      await age('older', 25);
      await deleteExpiredKeys(weir.db, 1);
      assert.deepEqual(await keys(), ['k', 'young']);
      await deleteExpiredKeys(weir.db, 10);
      assert.deepEqual(await keys(), ['young']);
      await weir.startWorker();
    });
  });

  it('answers a repeated /jobs with the same 202, also when the run has ended', async () => {
    const path = `${flow}/jobs`;
    const first = await send('k', { path });
    await weir.finish(flow, first.body.executionId, tenant.key);
    const again = await send('k', { path });
    assert.deepEqual([again.status, again.body], [202, first.body]);
    assert.deepEqual([replayed(first), replayed(again)], [null, 'true']);
  });

  describe('409', () => {
    it('answers IDEMPOTENCY_KEY_REUSED for another body, version, flow or environment', async () => {
      await send('k');
      const { plaintext, keyId, secretHmac } = mintApiKey('test', weir.config.apiKeyPepper);
      const { projectId } = tenant;
      await insertApiKey(weir.db, { projectId, keyId, environment: 'test', name: 'test', secretHmac });
      const others: Sent[] = [
        { body: { message: 'M' } },
        { body: { message: 'm', parameters: { a: 1 } } },
        { path: `${flow}/v1/execute` },
        { path: `${await weir.createFlow(tenant, [])}/execute` },
        { apiKey: plaintext },
      ];
      for (const other of others) {
        const { status, body } = await send('k', other);
        assert.deepEqual([status, body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED'], JSON.stringify(other));
      }
      assert.equal((await runs()).length, 1);
    });
  });

  describe('422', () => {
    for (const [rule, key] of [
      ['an empty key', ''],
      ['a key with a space', 'a b'],
      ['a key that is not ASCII', 'é'],
      ['a key of 256 characters', 'k'.repeat(256)],
    ] as const)
      it(`names the header for ${rule}`, async () => {
        const { status, body } = await send(key);
        assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
        assert.equal(body.detail.errors[0].field, 'Idempotency-Key');
        assert.equal((await runs()).length, 0);
      });

    it('does not refuse a key of 255 characters, from ! to ~', async () => {
      assert.equal((await send(`!~${'k'.repeat(253)}`)).status, 200);
    });
  });
});

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import { createAdmission } from '../../../api/runs/admission.ts';
import { lockWaiters } from '../../db/lock-waiters.ts';
import { startWeir, type Weir } from '../../harness.ts';

const never = () => new AbortController().signal;

describe('the admission of runs', () => {
  it('refuses at once what is over the bound of one organization, and of all', async () => {
    const admission = createAdmission({ hasWorker: false });
    const [gone, ofMany] = [new AbortController(), new AbortController()];
    const waiting: Promise<unknown>[] = [];
    const wait = (owner: string, { signal }: AbortController) =>
      waiting.push(admission.enter(owner, () => signal).catch(({ code }) => code));
    for (let place = 0; place < 32; place += 1) await admission.enter('a', never);
    for (let place = 0; place < 32; place += 1) await admission.enter(`other ${place}`, never);
    for (let request = 0; request < 1_000; request += 1) wait('a', gone);
    await assert.rejects(admission.enter('a', never), { code: 'RATE_LIMITED', retryAfterSeconds: 5 });
    for (let request = 0; request < 3_000; request += 1) wait(`one of many ${request}`, ofMany);
    await assert.rejects(admission.enter('b', never), { code: 'SERVICE_BUSY' });
    gone.abort();
    ofMany.abort();
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['SERVICE_STOPPING']));
  });

  describe('at an API', () => {
    const places = 4 * availableParallelism();
    let weir: Weir;
    before(async () => {
      weir = await startWeir({
        env: { WEIR_DATABASE_CONNECTIONS: String(4 * places), WEIR_RATE_LIMIT_PER_KEY: '0' },
      });
    });
    after(() => weir.stop());

    it('stores no more than the places of what one organization sends, and nothing whose caller has gone', async () => {
      const busy = await weir.createTenant();
      const flow = await weir.createFlow(busy, []);
      const gone = new AbortController();
      await weir.db.transaction().execute(async (tx) => {
        await sql`lock table run in access exclusive mode`.execute(tx);
        const answers = Array.from({ length: 5 * places }, () =>
          fetch(`${weir.url}/api/v1/seq/${flow}/jobs`, {
            method: 'POST',
            headers: { authorization: `Bearer ${busy.key}`, 'content-type': 'application/json' },
            body: '{"message":"m"}',
            signal: gone.signal,
          }).catch(() => undefined),
        );
        await lockWaiters(weir.db, places);
        gone.abort();
        await Promise.all(answers);
      });
      // One that comes after them begins when they are through.
      const { status } = await weir.call('POST', `${flow}/jobs`, { key: busy.key, body: { message: 'm' } });
      assert.equal(status, 202);
      const { rows } = await sql<{ count: number }>`select count(*)::bigint as count from run`.execute(
        weir.db,
      );
      assert.ok((rows[0]?.count ?? 0) <= places + 1, `${rows[0]?.count} runs are stored`);
    });
  });
});

import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { sql } from 'kysely';
import { createAdmission } from '../../../api/runs/admission.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

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
      // What is accepted stays with the engine.
      await weir.stopWorker();
    });
    after(() => weir.stop());

    it('stores no more than the places of what one organization sends, beside the first of another', async () => {
      const [busy, other] = [await weir.createTenant(), await weir.createTenant()];
      const flows = [await weir.createFlow(busy, []), await weir.createFlow(other, [])] as const;
      const send = (flow: string, { key }: Tenant) =>
        weir.call('POST', `${flow}/jobs`, { key, body: { message: 'm' } });
      const { answers } = await weir.db.transaction().execute(async (tx) => {
        await sql`lock table run in access exclusive mode`.execute(tx);
        const answers = Array.from({ length: 3 * places }, () => send(flows[0], busy));
        await lockWaiters(weir.db, places);
        answers.push(send(flows[1], other));
        await lockWaiters(weir.db, places + 1);
        assert.equal(await countLockWaiters(weir.db), places + 1);
        return { answers };
      });
      for (const { status } of await Promise.all(answers)) assert.equal(status, 202);
    });
  });
});

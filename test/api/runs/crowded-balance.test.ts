import assert from 'node:assert/strict';
import { BALANCE_STATEMENTS_MAX } from '../../../worker/create-flow-worker.ts';
import { lockBalance } from '../../db/credits/ledger-fixture.ts';
import { countLockWaiters, lockWaiters } from '../../db/lock-waiters.ts';
import { ask, CALL, spend, useCredits } from './credits-harness.ts';

const RUNS = 12;

describe('a balance that many runs wait for', () => {
  const harness = useCredits();

  it('leaves the connections to other organizations, and serves all in the end', async () => {
    const { weir, models } = harness;
    await harness.pay(RUNS);
    const crowded = harness.tenant;
    const flow = await weir.createFlow(crowded, [ask('a')]);
    const jobs = await weir.db.transaction().execute(async (tx) => {
      await lockBalance(tx, crowded);
      const started = await Promise.all(
        Array.from({ length: RUNS }, () =>
          weir.call('POST', `${flow}/jobs`, { key: crowded.key, body: { message: 'm' } }),
        ),
      );
      await lockWaiters(weir.db, BALANCE_STATEMENTS_MAX);
      await harness.pay(1);
      models.will(spend);
      assert.equal((await harness.execute([ask('b')])).status, 'completed');
      assert.equal(await countLockWaiters(weir.db), BALANCE_STATEMENTS_MAX);
      models.will(...Array(RUNS).fill(spend));
      return started;
    });
    for (const { body } of jobs)
      assert.equal((await weir.finish(flow, body.executionId, crowded.key)).body.status, 'completed');
    harness.tenant = crowded;
    const { charges } = await harness.account();
    assert.deepEqual([...charges.values()], Array(RUNS).fill(Math.round(CALL)));
  });
});

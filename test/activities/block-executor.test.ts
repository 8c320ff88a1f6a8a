import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { ModelUnavailable } from '../../activities/attempts/model-unavailable.ts';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import type { Db } from '../../db/connect.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { getRunContext } from '../../db/runs/runs.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import { captureLog } from '../capture-log.ts';
import { captureMetrics } from '../capture-metrics.ts';
import { audit } from '../db/credits/ledger-fixture.ts';
import { COST, intercepting, refuse, useAttempts } from './block-executor-harness.ts';

/** A database that records blocks, but whose answers to the first `lost` of these do not arrive. */
function losing(db: Db, lost: number): Db {
  let left = lost;
  return intercepting(db, async (send) => {
    const result = await send();
    left -= 1;
    if (left >= 0) throw new Error('Connection terminated unexpectedly');
    return result;
  });
}

describe('a model call whose activity is repeated', () => {
  const harness = useAttempts();

  it('is charged within the limit of its organization', async () => {
    await harness.attempt(1, harness.database.db, () => 'yes');
    assert.deepEqual(harness.limited, [harness.account.organizationId]);
  });

  it('is made and charged once when the answer to its recording is lost', async () => {
    await harness.attempt(1, losing(harness.database.db, 1), () => 'yes');
    assert.equal(harness.asked, 1);
    await harness.assertChargedOnce();
  });

  it('is made and charged once when its worker dies before it has told the engine', async () => {
    const metrics = captureMetrics();
    const first = await harness.attempt(1, harness.database.db, () => 'yes');
    assert.deepEqual(await harness.attempt(2, harness.database.db, () => 'other'), first);
    assert.equal(harness.asked, 1);
    await harness.assertChargedOnce();
    const charged = (await metrics.read('weir.credits.charged'))['type=llm'];
    metrics.stop();
    assert.equal(charged, COST / MICROCREDITS_PER_CREDIT);
  });

  it('fails with the same error, made and charged once, when it had failed', async () => {
    const failure = { code: 'MODEL_REFUSED', message: 'I will not.' };
    await assert.rejects(harness.attempt(1, losing(harness.database.db, 1), refuse), failure);
    await assert.rejects(
      harness.attempt(2, harness.database.db, () => 'yes'),
      failure,
    );
    assert.equal(harness.asked, 1);
    await harness.assertChargedOnce();
    const { completed } = await getRunContext(harness.database.db, harness.callId);
    assert.equal(completed.size, 0);
  });

  it('returns what another attempt has recorded meanwhile, also when it fails itself', async () => {
    const { db } = harness.database;
    let first: Awaited<ReturnType<typeof harness.attempt>> | undefined;
    const overlapping = intercepting(db, async (send) => {
      first = await harness.attempt(1, db, () => 'yes');
      return send();
    });
    const second = await harness.attempt(2, overlapping, refuse);
    assert.deepEqual([second, harness.asked], [first, 2]);
    await harness.assertChargedOnce();
  });

  const endingIn = (status: 'completed' | 'failed') =>
    intercepting(harness.database.db, async (send) => {
      await harness.database.db
        .updateTable('run')
        .set({ status, finished_at: new Date() })
        .where('execution_id', '=', harness.callId)
        .execute();
      return send();
    });

  it('fails with its own error when its run has ended meanwhile', async () => {
    await assert.rejects(harness.attempt(1, endingIn('completed'), refuse), { code: 'MODEL_REFUSED' });
    assert.deepEqual(await listBlockRuns(harness.database.db, harness.callId), []);
  });

  for (const [end, answers, code, status] of [
    ['its own failure', refuse, 'MODEL_REFUSED', 'failed'],
    ['an answer', () => 'yes', 'CANCELLED', 'cancelled'],
  ] as const)
    it(`stays in the trace, uncharged, when ${end} comes after its run has failed`, async () => {
      await assert.rejects(harness.attempt(1, endingIn('failed'), answers), { code });
      const blocks = await listBlockRuns(harness.database.db, harness.callId);
      assert.deepEqual(
        blocks.map((block) => [block.status, block.cost_microcredits]),
        [[status, 0]],
      );
      assert.equal((await audit(harness.database.db, harness.account)).reserved, 0);
    });

  for (const [clock, aheadMs] of [
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ] as const)
    it(`begins after its run and ends by the clock of the database, also where that of its worker is ${clock}`, async () => {
      const { db } = harness.database;
      mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMs });
      try {
        await harness.attempt(1, db, () => 'yes');
      } finally {
        mock.timers.reset();
      }
      const block = await db
        .selectFrom('block_run')
        .innerJoin('run', 'run.execution_id', 'block_run.execution_id')
        .select(['block_run.started_at', 'block_run.finished_at', 'run.started_at as run_started_at'])
        .where('block_run.execution_id', '=', harness.callId)
        .executeTakeFirstOrThrow();
      const times = [block.run_started_at, block.started_at, block.finished_at, new Date()];
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a.getTime() - b.getTime()),
      );
    });

  it('fails at once, uncharged and released, when the database takes what it cost in no case', async () => {
    const failure = { code: 'INTERNAL_ERROR', message: 'The block failed for a reason inside the service.' };
    harness.costs(1e300);
    const { lines, stop } = captureLog();
    try {
      await assert.rejects(
        harness.attempt(1, harness.database.db, () => 'yes'),
        failure,
      );
    } finally {
      stop();
    }
    assert.equal(lines[0]?.block, 'ask');
    assert.match(JSON.stringify(lines[0]), /refuses what a block made.*|bigint.*refuses what a block made/);
    const { balance, reserved, charges } = await audit(harness.database.db, harness.account);
    assert.deepEqual([balance, reserved, charges.size], [1_000, 0, 0]);
    const [block] = await listBlockRuns(harness.database.db, harness.callId);
    assert.deepEqual([block?.status, block?.error], ['failed', failure]);
  });

  it('is answered with the record of another attempt when the database takes its own in no case', async () => {
    const { db } = harness.database;
    let other: unknown;
    const overtaken = intercepting(db, async (send) => {
      harness.costs(COST);
      other ??= await harness.attempt(2, db, () => 'yes');
      return send();
    });
    harness.costs(1e300);
    const { stop } = captureLog();
    try {
      assert.deepEqual(await harness.attempt(1, overtaken, () => 'no'), other);
    } finally {
      stop();
    }
    await harness.assertChargedOnce();
  });

  it('is given up at the third answer that cannot be read, however many attempts were lost with their workers', async () => {
    const unreadable = () => {
      throw new ModelUnavailable('garbled', { isUnreadable: true });
    };
    const attempt = (more: Partial<Attempt>) => harness.attempt(5, harness.database.db, unreadable, more);
    for (const earlier of [0, 1])
      await assert.rejects(attempt({ number: 5, refusals: earlier, unreadable: earlier }), {
        name: 'ModelUnavailable',
      });
    await assert.rejects(attempt({ number: 3, refusals: 2, unreadable: 2 }), { code: 'MODEL_UNAVAILABLE' });
  });

  for (const [mode, max_retries, retries] of [
    ['execute', undefined, 3],
    ['step', undefined, 3],
    ['jobs', undefined, 7],
    ['jobs', 0, 0],
    ['execute', 5, 5],
  ] as const)
    it(`is repeated ${retries} times after refusals in mode ${mode} with max_retries ${max_retries}`, async () => {
      const callId = harness.callId;
      const { input } = await getRunContext(harness.database.db, callId);
      const block_overrides = max_retries === undefined ? {} : { ask: { processor_config: { max_retries } } };
      const changed = JSON.stringify({ ...input, block_overrides });
      await harness.database.db
        .updateTable('run')
        .set({ mode, input: changed })
        .where('execution_id', '=', callId)
        .execute();
      const busy = () => {
        throw new ModelUnavailable('busy');
      };
      if (retries > 0)
        await assert.rejects(harness.attempt(2, harness.database.db, busy, { refusals: retries - 1 }), {
          name: 'ModelUnavailable',
        });
      await assert.rejects(harness.attempt(3, harness.database.db, busy, { refusals: retries }), {
        code: 'MODEL_UNAVAILABLE',
      });
    });

  it('takes over what a killed worker had reserved', async () => {
    await reserveCredits(harness.database.db, {
      callId: harness.callId,
      blockKey: 'ask',
      organizationId: harness.account.organizationId,
      microcredits: 900,
    });
    await harness.attempt(2, harness.database.db, () => randomUUID());
    await harness.assertChargedOnce();
  });
});

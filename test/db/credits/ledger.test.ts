import assert from 'node:assert/strict';
import fc from 'fast-check';
import { grantCredits } from '../../../db/credits/ledger.ts';
import {
  CreditsReserved,
  releaseLeftReservations,
  releaseReservation,
  reserveCredits,
} from '../../../db/credits/reservations.ts';
import { listBlockRuns } from '../../../db/runs/block-runs.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { CANCELLED } from '../../../flow/run.ts';
import { propertyRuns } from '../../full-size.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { auditUsage } from '../usage/audit-usage.ts';
import { type Account, audit, openAccount, settle } from './ledger-fixture.ts';

const REFUSED = { code: 'MODEL_REFUSED', message: 'no' } as const;

/** One model call of a block, which costs a share of its reservation. */
type Call = {
  run: number;
  block: number;
  reserves: number;
  repair: number;
  share: number;
  end: 'completes' | 'fails' | 'gives up' | 'is killed';
  repeats: boolean;
};

const call: fc.Arbitrary<Call> = fc.record({
  run: fc.nat(1),
  block: fc.nat(3),
  reserves: fc.integer({ min: 1, max: 60 }),
  repair: fc.nat(20),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  end: fc.constantFrom('completes', 'completes', 'fails', 'gives up', 'is killed'),
  repeats: fc.boolean(),
});
/** Events that happen at once: some grants, and calls of different blocks. */
const round = fc.record({
  grants: fc.array(fc.record({ key: fc.nat(4), amount: fc.integer({ min: 1, max: 40 }) }), { maxLength: 2 }),
  calls: fc.uniqueArray(call, { selector: ({ run, block }) => `${run}/${block}`, maxLength: 6 }),
});

describe('the ledger', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Only refusals that a caller is told of are expected. */
  async function make(account: Account, maxima: number[], made: Call, excess: number): Promise<void> {
    const { db } = database;
    const id = { callId: account.runs[made.run] as string, blockKey: `block-${made.block}` };
    const reserve = (microcredits: number) =>
      reserveCredits(db, {
        ...id,
        organizationId: account.organizationId,
        microcredits,
        maxMicrocredits: maxima[made.run],
      });
    const cost = () => Math.floor(reserved * made.share * excess);
    const payer = { ...account, maxMicrocredits: maxima[made.run] };
    let reserved = 0;
    let reservedAt = '';
    try {
      for (const microcredits of [
        made.reserves,
        ...(made.repeats ? [made.reserves] : []),
        made.reserves + made.repair,
      ]) {
        reservedAt = await reserve(microcredits);
        reserved = microcredits;
      }
    } catch (error) {
      // It is tried again later, and has nothing reserved until then.
      if (error instanceof CreditsReserved) return;
      const { code } = error as { code: string };
      assert(['INSUFFICIENT_CREDITS', 'MAX_CREDITS_REACHED', REFUSED.code].includes(code), String(error));
      // A repair that can't be paid ends the block with what its first answer cost.
      if (code !== REFUSED.code) await settle(db, payer, { ...id, error: REFUSED, costMicrocredits: cost() });
      return;
    }
    if (made.end === 'is killed') return;
    if (made.end === 'gives up') return releaseReservation(db, id, reservedAt);
    const block = { ...id, costMicrocredits: cost(), ...(made.end === 'fails' && { error: REFUSED }) };
    await settle(db, payer, block);
    if (made.repeats) await settle(db, payer, block);
  }

  it('equals the balance change, charges each block once for its recorded cost, and leaves nothing reserved', async () => {
    const { db } = database;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(150),
        fc.integer({ min: 20, max: 120 }),
        fc.array(round, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(1, 2),
        async (start, maximum, rounds, excess) => {
          const account = await openAccount(db, start, 2);
          for (const { grants, calls } of rounds) {
            await Promise.all([
              ...grants.map(({ key, amount }) =>
                grantCredits(db, account.organizationId, amount, `grant/${key}`),
              ),
              ...calls.map((made) => make(account, [maximum], made, excess)),
            ]);
            const { balance, reserved, charges } = await audit(db, account);
            // Calls that cost more than was reserved take what others have reserved.
            assert(excess > 1 || reserved <= balance, 'more is reserved than there is');
            const blocks = await db
              .selectFrom('block_run')
              .select(['execution_id', 'block_key', 'cost_microcredits'])
              .where('execution_id', 'in', account.runs)
              .where('cost_microcredits', '>', 0)
              .execute();
            const costs = blocks.map(
              (row) => [`charge/${row.execution_id}/${row.block_key}`, row.cost_microcredits] as const,
            );
            assert.deepEqual(charges, new Map(costs));
            const spent = blocks.filter((row) => row.execution_id === account.runs[0]);
            assert(spent.reduce((sum, row) => sum + row.cost_microcredits, 0) <= maximum);
          }
          for (const callId of account.runs)
            await finishRun(db, callId, { status: 'failed', error: CANCELLED });
          await releaseLeftReservations(db);
          const { reserved, charges } = await audit(db, account);
          assert.equal(reserved, 0);
          const charged = [...charges.values()].reduce((sum, cost) => sum + cost, 0);
          assert.equal(await auditUsage(db, account.organizationId), charged);
        },
      ),
      { numRuns: propertyRuns(40) },
    );
  });

  it('charges a block whose attempts overlap once', async () => {
    const { db } = database;
    const account = await openAccount(db, 1_000, 1);
    const id = { callId: account.runs[0] as string, blockKey: 'ask' };
    const attempt = async () => {
      await reserveCredits(db, { ...id, organizationId: account.organizationId, microcredits: 300 });
      return settle(db, account, { ...id, costMicrocredits: 200 });
    };
    const recorded = await Promise.all(Array.from({ length: 10 }, attempt));
    assert.equal(recorded.filter(Boolean).length, 1);
    const { balance, reserved } = await audit(db, account);
    assert.deepEqual([balance, reserved], [800, 0]);
  });

  it('leaves a block that failed and was charged as it is, though a later attempt completes', async () => {
    const { db } = database;
    const account = await openAccount(db, 1_000, 1);
    const id = { callId: account.runs[0] as string, blockKey: 'ask' };
    assert.equal(await settle(db, account, { ...id, error: REFUSED, costMicrocredits: 50 }), true);
    assert.equal(await settle(db, account, { ...id, costMicrocredits: 80 }), false);
    const [block] = await listBlockRuns(db, id.callId);
    assert.deepEqual([block?.status, block?.cost_microcredits], ['failed', 50]);
    assert.equal((await audit(db, account)).balance, 950);
  });

  it('charges what a call has cost, also beyond its reservation and what others have reserved', async () => {
    const { db } = database;
    const account = await openAccount(db, 1_000, 1);
    const id = { callId: account.runs[0] as string, blockKey: 'ask' };
    await reserveCredits(db, { ...id, ...account, microcredits: 20 });
    await reserveCredits(db, { ...id, ...account, blockKey: 'other', microcredits: 900 });
    await settle(db, account, { ...id, costMicrocredits: 150 });
    const [block] = await listBlockRuns(db, id.callId);
    assert.deepEqual([block?.cost_microcredits, block?.uncharged_microcredits], [150, 0]);
    assert.equal((await audit(db, account)).balance, 850);
  });

  it('takes no run over its maximum, also after a reservation was released', async () => {
    const { db } = database;
    const account = await openAccount(db, 1_000, 1);
    const payer = { ...account, maxMicrocredits: 50 };
    const [callId = ''] = account.runs;
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        settle(db, payer, { callId, blockKey: `block-${index}`, costMicrocredits: 15 }),
      ),
    );
    const blocks = await listBlockRuns(db, callId);
    assert.deepEqual(blocks.map((block) => block.cost_microcredits).sort(), [0, 0, 0, 0, 15, 15, 15, 5]);
    for (const block of blocks) assert.equal(block.uncharged_microcredits, 15 - block.cost_microcredits);
    assert.equal((await audit(db, account)).balance, 950);
  });

  it('never goes below zero when calls cost more than the balance, and records what was charged and what was not', async () => {
    const { db } = database;
    const account = await openAccount(db, 100, 1);
    const [callId = ''] = account.runs;
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        settle(db, account, { callId, blockKey: `block-${index}`, costMicrocredits: 30 }),
      ),
    );
    const blocks = await listBlockRuns(db, callId);
    assert.equal(
      blocks.reduce((sum, block) => sum + block.cost_microcredits, 0),
      100,
    );
    for (const block of blocks) assert.equal(block.uncharged_microcredits, 30 - block.cost_microcredits);
    assert.equal((await audit(db, account)).balance, 0);
  });
});

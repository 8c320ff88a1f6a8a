import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { sql } from 'kysely';
import { ModelUnavailable } from '../../activities/attempts/model-unavailable.ts';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import type { BlockExecutor } from '../../activities/block-executor.ts';
import { SandboxUnavailable } from '../../activities/code/sandbox-errors.ts';
import { showRefusal, showUnderWay } from '../../activities/show-under-way.ts';
import { findBlockTrace } from '../../db/runs/block-traces.ts';
import { deleteLeftBlocks, listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { findStuckRuns } from '../../db/runs/stuck-calls.ts';
import { openAccount, settle } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { waitUntil } from '../wait-until.ts';

const REFUSAL = { code: 'MODEL_UNAVAILABLE', message: 'no', tookMs: 1, retryInMs: 1 } as const;

describe('showing an attempt at a block', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('is written before its refusal, whose time of the next attempt it would take back', async () => {
    const { db } = database;
    const [callId = ''] = (await openAccount(db, 0, 1)).runs;
    const block = { name: 'ask', processor_type: 'llm' };
    const blocks = { find: async () => ({ block }) } as unknown as Pick<BlockExecutor, 'find'>;
    const execution = { callId, blockKey: 'ask', stepId: 'ask', input: { ref: 'message' }, ends: false };
    const refused = Promise.withResolvers<never>();
    const order: string[] = [];
    let shown = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await sql`lock table block_under_way in access exclusive mode`.execute(tx);
      const attempt = { number: 2, begun: 2 } as Attempt;
      shown = showUnderWay(db, blocks, execution, attempt, () => refused.promise).catch(() => {
        order.push('refused');
      });
      await waitUntil(async () => {
        const waiting = sql`select from pg_locks where not granted and relation = 'block_under_way'::regclass`;
        return (await waiting.execute(db)).rows.length > 0;
      });
      refused.reject(new ModelUnavailable('overloaded', {}));
      await sql`select 1`.execute(tx);
      order.push('written');
    });
    await shown;
    assert.deepEqual(order, ['written', 'refused']);
  });

  it('is tried again while the attempt goes on', async () => {
    const { db } = database;
    const [callId = ''] = (await openAccount(db, 0, 1)).runs;
    const block = { name: 'ask', processor_type: 'llm' };
    let found = 0;
    const find = async () => {
      found += 1;
      if (found === 1) throw new Error('The database is away.');
      return { block };
    };
    const blocks = { find } as unknown as Pick<BlockExecutor, 'find'>;
    const execution = { callId, blockKey: 'ask', stepId: 'ask', input: { ref: 'message' }, ends: false };
    const attempt = { number: 2, begun: 2, signal: new AbortController().signal } as Attempt;
    await showUnderWay(db, blocks, execution, attempt, () =>
      waitUntil(async () => (await listBlocksUnderWay(db, callId)).length > 0),
    );
    assert.equal(found, 2);
  });

  it('tells when it began by the clock of the database, on which readers wait, however wrong that of the worker is', async () => {
    const { db } = database;
    const [callId = ''] = (await openAccount(db, 0, 1)).runs;
    const block = { name: 'ask', processor_type: 'llm' };
    const blocks = { find: async () => ({ block }) } as unknown as Pick<BlockExecutor, 'find'>;
    const execution = { callId, blockKey: 'ask', stepId: 'ask', input: { ref: 'message' }, ends: false };
    const before = new Date();
    mock.timers.enable({ apis: ['Date'], now: before.getTime() + 3_600_000 });
    try {
      await showRefusal(db, blocks, execution, { number: 1 } as Attempt, { ...REFUSAL, tookMs: 0 });
    } finally {
      mock.timers.reset();
    }
    const [shown] = await listBlocksUnderWay(db, callId);
    assert.ok(shown && shown.started_at >= before && shown.started_at <= new Date());
  });

  it('begins with the first attempt, also when this was shown only once it was refused', async () => {
    const { db } = database;
    const [callId = ''] = (await openAccount(db, 0, 1)).runs;
    const blocks = { find: async () => ({ block: { name: 'ask', processor_type: 'llm' } }) } as never;
    const execution = { callId, blockKey: 'ask', stepId: 'ask', input: { ref: 'message' }, ends: false };
    const hourAgo = Date.now() - 3_600_000;
    for (const number of [1, 2]) {
      const tookMs = number === 1 ? 7_200_000 : 1;
      await showRefusal(db, blocks, execution, { number } as Attempt, { ...REFUSAL, tookMs });
    }
    const [shown] = await listBlocksUnderWay(db, callId);
    assert.ok(shown && shown.started_at.getTime() < hourAgo, String(shown?.started_at));
  });

  it('leaves a block whose process was killed again and again among those that make no progress', async () => {
    const { db } = database;
    const [callId = ''] = (await openAccount(db, 0, 1)).runs;
    const block = { name: 'compute', processor_type: 'code' };
    const blocks = { find: async () => ({ block }) } as unknown as Pick<BlockExecutor, 'find'>;
    const execution = { callId, blockKey: 'code', stepId: 'code', input: { ref: 'message' }, ends: false };
    const attempt = { number: 4, begun: 4, signal: new AbortController().signal } as Attempt;
    await showRefusal(db, blocks, execution, attempt, {
      ...REFUSAL,
      message: 'no process',
      retryInMs: 60_000,
    });
    const kill = () => Promise.reject(new SandboxUnavailable('ended (SIGKILL)'));
    await assert.rejects(showUnderWay(db, blocks, execution, attempt, kill), SandboxUnavailable);
    assert.partialDeepStrictEqual((await findStuckRuns(db, [callId])).get(callId), {
      reason: 'retrying',
      block: 'compute',
      attempts: 4,
      lastError: 'no process',
    });
  });

  it('is kept with the first three and the last ten failures of its block', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 1);
    const [callId = ''] = runs;
    const blocks = { find: async () => ({ block: { name: 'a', processor_type: 'code' } }) };
    const execution = { callId, blockKey: 'a', stepId: 'a', input: { ref: 'message' }, ends: false };
    for (let n = 1; n <= 20; n += 1)
      await showRefusal(db, blocks as never, execution, { number: n } as Attempt, {
        ...REFUSAL,
        message: `${n}${'x'.repeat(5_000)}`,
      });
    await settle(db, { organizationId }, { callId, blockKey: 'a', costMicrocredits: 0 });
    const block = await findBlockTrace(db, callId, 'a');
    assert.equal(block?.attempts, 21);
    const numbers = block?.failed_attempts?.map(({ number }) => number);
    assert.deepEqual(numbers, [1, 2, 3, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    assert.ok(block?.failed_attempts?.every(({ message }) => message.length === 500));
  });

  it('is deleted by a duty where a worker left it behind, once its block is recorded or its call has ended', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 3);
    const [underWay = '', recorded = '', ended = ''] = runs;
    const block = { name: 'ask', processor_type: 'llm' };
    const blocks = { find: async () => ({ block }) } as unknown as Pick<BlockExecutor, 'find'>;
    for (const callId of runs) {
      const execution = { callId, blockKey: 'ask', stepId: 'ask', input: { ref: 'message' }, ends: false };
      await showRefusal(db, blocks, execution, { number: 1 } as Attempt, REFUSAL);
    }
    await settle(db, { organizationId }, { callId: recorded, blockKey: 'ask', costMicrocredits: 0 });
    await db.updateTable('run').set({ status: 'failed' }).where('execution_id', '=', ended).execute();
    assert.equal(await deleteLeftBlocks(db, 1), 1);
    await deleteLeftBlocks(db, 100);
    const left = db.selectFrom('block_under_way').select('execution_id').where('execution_id', 'in', runs);
    assert.deepEqual(await left.execute(), [{ execution_id: underWay }]);
  });
});

// A run whose row is gone (retention, an operator) stays gone: nothing about it is repeated, asked for or paid.
import assert from 'node:assert/strict';
import { createBlockExecutor } from '../../activities/block-executor.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { beginModelCall, reserveCredits } from '../../db/credits/reservations.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { recordBlockRun } from '../../db/runs/block-runs.ts';
import { getRunContext } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { llm } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';

const GONE = { name: 'ServiceError', code: 'RUN_NOT_FOUND' };
const BLOCK = { blockKey: 'ask', stepId: 'ask', input: { ref: MESSAGE_REF } };

describe('a block of a run that was deleted ends as RUN_NOT_FOUND', () => {
  const validator = createValidator();
  let database: TestDatabase;
  let account: Account;
  let callId: string;
  let asked: number;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 1_000, 1, [llm('ask', 'x', 'demo/chat')]);
    [callId = ''] = account.runs;
    asked = 0;
  });
  afterEach(async () => {
    const { balance, reserved } = await audit(database.db, account);
    assert.deepEqual([balance, reserved], [1_000, 0]);
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });

  async function remove(): Promise<void> {
    for (const table of ['block_run', 'reservation', 'run'] as const)
      await database.db.deleteFrom(table).where('execution_id', '=', callId).execute();
  }

  /** A first attempt, in a process that knows the run. */
  async function attempt(answer: () => Promise<string>, prepare?: () => Promise<void>) {
    const inProcessRuns = createInProcessRuns();
    inProcessRuns.contexts.set(callId, await getRunContext(database.db, callId));
    await prepare?.();
    const { db } = database;
    const definitions = createFlowDefinitions(db);
    const balanceLimit = createFairQueue({ capacity: 1 });
    const gates = createTestGates();
    const blocks = createBlockExecutor({
      db,
      definitions,
      balanceLimit,
      validator,
      inProcessRuns,
      gates,
    });
    return blocks.run({ ...BLOCK, callId, ends: false }, attemptOf(1), async ({ payer, usage }) => {
      await reserveCredits(database.db, { ...payer, ...BLOCK, callId, microcredits: 300 });
      asked += 1;
      usage.costMicrocredits = 300;
      return { output: await answer() };
    });
  }

  it('before its model is asked', async () => {
    await assert.rejects(
      attempt(async () => 'yes', remove),
      GONE,
    );
    assert.equal(asked, 0);
  });

  it('while its model answers', async () => {
    await assert.rejects(
      attempt(async () => {
        await remove();
        return 'yes';
      }),
      GONE,
    );
    assert.equal(asked, 1);
  });

  it('while its model refuses', () =>
    assert.rejects(
      attempt(async () => {
        await remove();
        throw new ServiceError('MODEL_REFUSED', 'I will not.');
      }),
      GONE,
    ));

  it('before it is found out whose key is sent', async () => {
    await remove();
    const wanted = { ...account, ...BLOCK, callId, provider: 'demo', microcredits: 300 };
    await assert.rejects(beginModelCall(database.db, wanted), GONE);
  });

  it('when it costs nothing, be it the last of its run or not', async () => {
    await remove();
    const free = { ...BLOCK, callId, name: 'pass', processorType: 'passthrough' as const, output: '1' };
    for (const result of [undefined, { ref: 'ask' }])
      await assert.rejects(
        recordBlockRun(database.db, account, { ...free, attempts: 1, startedAt: performance.now() }, result),
        GONE,
      );
  });
});

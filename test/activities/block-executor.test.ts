import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { CancelledFailure } from '@temporalio/activity';
import type { Processor } from '../../activities/block-execution.ts';
import { createBlockExecutor } from '../../activities/block-executor.ts';
import { ModelUnavailable } from '../../activities/model-unavailable.ts';
import type { Attempt } from '../../activities/run-attempt.ts';
import type { Db } from '../../db/connect.ts';
import { ConnectionFailed } from '../../db/connection/connection-failed.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { createInProcessRuns } from '../../db/runs/in-process-runs.ts';
import { getRunContext } from '../../db/runs/runs.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Busy } from '../../flow/run.ts';
import type { Pause } from '../../flow/tool-calls.ts';
import { MESSAGE_REF, type Value } from '../../flow/value.ts';
import { createValidator } from '../../json-schema/validator.ts';
import { createLargeValues } from '../../large-values/large-values.ts';
import { llm } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';

const COST = 300;

/** A regular activity, none of whose attempts was refused. */
const attemptOf = (begun: number): Attempt => ({
  number: 1,
  begun,
  refusals: 0,
  isLocal: false,
  signal: new AbortController().signal,
  kept: undefined,
  keep: () => true,
});

describe('a model call whose activity is repeated', () => {
  const validator = createValidator();
  let database: TestDatabase;
  let account: Account;
  let asked: number;
  /** The organizations whose balance limit was asked for. */
  let limited: string[];
  let cost: number;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 1_000, 1, [llm('ask', 'x', 'demo/chat')]);
    asked = 0;
    limited = [];
    cost = COST;
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });

  /** A database that records blocks, but whose answers to the first `lost` of these do not arrive. */
  function losing(db: Db, lost: number): Db {
    let left = lost;
    const recording = new Set<object>();
    return db.withPlugin({
      transformQuery({ node, queryId }) {
        if (JSON.stringify(node).includes('record_block_run')) recording.add(queryId);
        return node;
      },
      async transformResult({ result, queryId }) {
        if (!recording.has(queryId)) return result;
        left -= 1;
        if (left >= 0) throw new Error('Connection terminated unexpectedly');
        return result;
      },
    });
  }

  /** One attempt in a process of its own. */
  function attempt(
    number: number,
    db: Db,
    answer: () => string,
    more: Partial<Attempt> = {},
  ): Promise<Value | Pause | Busy> {
    const blocks = createBlockExecutor({
      db,
      definitions: createFlowDefinitions(db),
      balanceLimit: {
        run(organizationId, work) {
          limited.push(organizationId);
          return work();
        },
      },
      validator,
      inProcessRuns: createInProcessRuns(),
      largeValues: createLargeValues(),
    });
    const callId = account.runs[0] as string;
    const execution = { callId, stepId: 'ask', blockKey: 'ask', input: { ref: MESSAGE_REF }, ends: false };
    const process: Processor = async ({ payer, usage }) => {
      await reserveCredits(database.db, { ...payer, callId, blockKey: 'ask', microcredits: COST });
      asked += 1;
      Object.assign(usage, {
        model: 'demo/chat',
        promptTokens: 1,
        completionTokens: 1,
        costMicrocredits: cost,
      });
      return { output: answer() };
    };
    return blocks.run(execution, { ...attemptOf(number), ...more }, process);
  }
  const refuse = () => {
    throw new ServiceError('MODEL_REFUSED', 'I will not.');
  };
  async function assertChargedOnce(): Promise<void> {
    const { balance, reserved, charges } = await audit(database.db, account);
    assert.deepEqual([balance, reserved, charges.size], [1_000 - COST, 0, 1]);
  }

  it('is charged within the limit of its organization', async () => {
    await attempt(1, database.db, () => 'yes');
    assert.deepEqual(limited, [account.organizationId]);
  });

  it('is made and charged once when the answer to its recording is lost', async () => {
    await attempt(1, losing(database.db, 1), () => 'yes');
    assert.equal(asked, 1);
    await assertChargedOnce();
  });

  it('is made and charged once when its worker dies before it has told the engine', async () => {
    const first = await attempt(1, database.db, () => 'yes');
    assert.deepEqual(await attempt(2, database.db, () => 'other'), first);
    assert.equal(asked, 1);
    await assertChargedOnce();
  });

  it('fails with the same error, made and charged once, when it had failed', async () => {
    const failure = { code: 'MODEL_REFUSED', message: 'I will not.' };
    await assert.rejects(attempt(1, losing(database.db, 1), refuse), failure);
    await assert.rejects(
      attempt(2, database.db, () => 'yes'),
      failure,
    );
    assert.equal(asked, 1);
    await assertChargedOnce();
    const { completed } = await getRunContext(database.db, account.runs[0] as string);
    assert.equal(completed.size, 0);
  });

  it('fails at once, uncharged and released, when the database takes what it cost in no case', async () => {
    const failure = { code: 'INTERNAL_ERROR', message: 'The block failed for a reason inside the service.' };
    cost = 1e300;
    const log = mock.method(console, 'error', () => undefined);
    try {
      await assert.rejects(
        attempt(1, database.db, () => 'yes'),
        failure,
      );
    } finally {
      log.mock.restore();
    }
    assert.match(String(log.mock.calls[0]?.arguments[0]), /refuses what ask of call .* bigint/);
    const { balance, reserved, charges } = await audit(database.db, account);
    assert.deepEqual([balance, reserved, charges.size], [1_000, 0, 0]);
    const [block] = await listBlockRuns(database.db, account.runs[0] as string);
    assert.deepEqual([block?.status, block?.error], ['failed', failure]);
  });

  it('that answers what cannot be read is made three times, and no more', async () => {
    const unreadable = () => {
      throw new ModelUnavailable('garbled', { isUnreadable: true });
    };
    for (const number of [1, 2])
      await assert.rejects(attempt(number, database.db, unreadable, { number }), {
        name: 'ModelUnavailable',
      });
    await assert.rejects(attempt(3, database.db, unreadable, { number: 3 }), { code: 'MODEL_UNAVAILABLE' });
  });

  for (const [mode, max_retries, retries] of [
    ['execute', undefined, 3],
    ['step', undefined, 3],
    ['jobs', undefined, 7],
    ['jobs', 0, 0],
    ['execute', 5, 5],
  ] as const)
    it(`is repeated ${retries} times after refusals in mode ${mode} with max_retries ${max_retries}`, async () => {
      const callId = account.runs[0] as string;
      const { input } = await getRunContext(database.db, callId);
      const block_overrides = max_retries === undefined ? {} : { ask: { processor_config: { max_retries } } };
      const changed = JSON.stringify({ ...input, block_overrides });
      await database.db
        .updateTable('run')
        .set({ mode, input: changed })
        .where('execution_id', '=', callId)
        .execute();
      const busy = () => {
        throw new ModelUnavailable('busy');
      };
      if (retries > 0)
        await assert.rejects(attempt(2, database.db, busy, { refusals: retries - 1 }), {
          name: 'ModelUnavailable',
        });
      await assert.rejects(attempt(3, database.db, busy, { refusals: retries }), {
        code: 'MODEL_UNAVAILABLE',
      });
    });

  for (const [name, end] of [
    ['answer', () => 'yes'],
    ['refusal', refuse],
  ] as const)
    it(`leaves its ${name} to the next attempt when its worker ends while the database is away`, async () => {
      const stop = new AbortController();
      const away = database.db.withPlugin({
        transformQuery({ node }) {
          if (!JSON.stringify(node).includes('record_block_run')) return node;
          stop.abort();
          throw new ConnectionFailed('unreachable', new Error('away'));
        },
        transformResult: async ({ result }) => result,
      });
      let kept: unknown;
      const keep = (value: object) => {
        kept = structuredClone(value);
        return true;
      };
      await assert.rejects(attempt(1, away, end, { signal: stop.signal, keep }), ConnectionFailed);
      const next = attempt(2, database.db, () => 'other', { kept });
      if (name === 'answer') assert.deepEqual(await next, { ref: 'ask', json: 'yes', bytes: 5 });
      else await assert.rejects(next, { code: 'MODEL_REFUSED', message: 'I will not.' });
      assert.equal(asked, 1);
      await assertChargedOnce();
    });

  it('leaves its answer to the next attempt, and asks the database no more, when its worker stops before its turn to be charged', async () => {
    const stop = new AbortController();
    let kept: unknown;
    const keeping: Partial<Attempt> = {
      signal: stop.signal,
      keep(value) {
        kept = value;
        this.kept = value;
        return true;
      },
    };
    const stopped = new CancelledFailure('WORKER_SHUTDOWN');
    const answer = () => {
      stop.abort(stopped);
      return 'yes';
    };
    await assert.rejects(attempt(1, database.db, answer, keeping), stopped);
    assert.deepEqual(await listBlockRuns(database.db, account.runs[0] as string), []);
    await attempt(2, database.db, () => 'other', { kept });
    assert.equal(asked, 1);
    await assertChargedOnce();
  });

  it('takes over what a killed worker had reserved', async () => {
    await reserveCredits(database.db, {
      callId: account.runs[0] as string,
      blockKey: 'ask',
      organizationId: account.organizationId,
      microcredits: 900,
    });
    await attempt(2, database.db, () => randomUUID());
    await assertChargedOnce();
  });
});

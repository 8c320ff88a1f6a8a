import assert from 'node:assert/strict';
import type { CompiledQuery } from 'kysely';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import type { Processor } from '../../activities/block-execution.ts';
import { createBlockExecutor } from '../../activities/block-executor.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import type { Db } from '../../db/connect.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { ServiceError } from '../../flow/errors.ts';
import type { Pause } from '../../flow/tool-calls.ts';
import { MESSAGE_REF, type Value } from '../../flow/value.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { llm } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';

/** The cost of the model call, in microcredits. */
export const COST = 300;

/** Sets up attempts at one model call that costs COST, of an organization with 1,000 microcredits. */
export function useAttempts() {
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

  /** One attempt in a process of its own. */
  function attempt(
    number: number,
    db: Db,
    answer: () => string,
    more: Partial<Attempt> = {},
  ): Promise<Value | Pause> {
    const blocks = createBlockExecutor({
      db,
      definitions: createFlowDefinitions(db),
      balanceLimit: {
        acquire(organizationId) {
          limited.push(organizationId);
          return createFairQueue({ capacity: 1 }).acquire(organizationId);
        },
      },
      validator,
      inProcessRuns: createInProcessRuns(),
      gates: createTestGates(),
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
  async function assertChargedOnce(): Promise<void> {
    const { balance, reserved, charges } = await audit(database.db, account);
    assert.deepEqual([balance, reserved, charges.size], [1_000 - COST, 0, 1]);
  }

  return {
    attempt,
    assertChargedOnce,
    get database() {
      return database;
    },
    get account() {
      return account;
    },
    get callId() {
      return account.runs[0] as string;
    },
    /** How often the model was asked. */
    get asked() {
      return asked;
    },
    get limited() {
      return limited;
    },
    /** Sets what the model call is said to cost. */
    costs(microcredits: number) {
      cost = microcredits;
    },
  };
}

/** A database whose statements that record a block are sent by `record`, which may do so or fail. */
export function intercepting(db: Db, record: (send: () => Promise<unknown>) => Promise<unknown>): Db {
  const executeQuery = (query: CompiledQuery) => {
    const send = () => db.executeQuery(query);
    return query.sql.includes('record_block_run') ? record(send) : send();
  };
  return new Proxy(db, {
    get(target, name) {
      if (name === 'executeQuery') return executeQuery;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function refuse(): never {
  throw new ServiceError('MODEL_REFUSED', 'I will not.');
}

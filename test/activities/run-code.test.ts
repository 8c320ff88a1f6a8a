// Failures under a code block, and whose fault they are (activities/run-code.ts).
import assert from 'node:assert/strict';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import { type BlockExecutor, createBlockExecutor } from '../../activities/block-executor.ts';
import type { Sandbox } from '../../activities/code/sandbox.ts';
import { SandboxCrashed, SandboxUnavailable } from '../../activities/code/sandbox-errors.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { runCode } from '../../activities/run-code.ts';
import type { Db } from '../../db/connect.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createFairQueue, PermitRejected } from '../../platform/limits/fair-queue.ts';
import { code } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { attemptOf } from './attempt-of.ts';
import { createTestGates } from './test-gates.ts';

const CALL = { callId: 'e', stepId: 's', blockKey: 's', input: { ref: 's' }, ends: false };

describe('runCode', () => {
  const gates = createTestGates();
  /** A block whose processes fail like this, one call after the other. */
  function start(errors: Error[], { waitMaxMs = Infinity } = {}) {
    const sandbox = {
      async run() {
        const error = errors.shift();
        if (error) throw error;
        return { output: 7 };
      },
    } as unknown as Sandbox;
    const run: BlockExecutor['run'] = async (_call, _attempt, process) => {
      const usage = { promptTokens: 0, completionTokens: 0, costMicrocredits: 0 };
      const given = { block: {}, input: null, usage, printed: {} } as unknown as Parameters<
        typeof process
      >[0];
      return { ref: 's', json: (await process(given)).output };
    };
    const blocks = {
      find: async () => ({ organizationId: 'organization' }),
      run,
    } as unknown as BlockExecutor;
    const attempt = { ...attemptOf(1), waitMaxMs };
    const deps = {
      gates,
      sandbox,
      db: {} as Db,
      balanceLimit: createFairQueue({ capacity: 1 }),
      codePrice: 0,
    };
    return runCode(deps, blocks, CALL, attempt);
  }
  afterEach(() => assert.equal(gates.sandbox.count().inFlight, 0));
  const crash = () => new SandboxCrashed('ended (SIGSEGV)');

  it('repeats what crashed its process, twice', async () => {
    assert.deepEqual(await start([crash(), crash()]), { ref: 's', json: 7 });
  });

  it('takes a third crash for the fault of the code', async () => {
    await assert.rejects(start([crash(), crash(), crash()]), {
      code: 'CODE_ERROR',
      message: /crashed its sandbox/,
    });
  });

  it('leaves to the engine what was killed or could not start: it counts for nothing', async () => {
    const killed = new SandboxUnavailable('ended (SIGKILL)');
    await assert.rejects(start([crash(), crash(), killed]), SandboxUnavailable);
  });

  it('is rejected, to be rescheduled, where no process is free in time', async () => {
    using _permit = await gates.sandbox.acquire('organization');
    await assert.rejects(start([], { waitMaxMs: 0 }), PermitRejected);
    _permit.release();
  });
});

describe('code at a price', () => {
  const validator = createValidator();
  let database: TestDatabase;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 1_000_000, 1, [code('b', 'return 2')]);
  });
  after(async () => {
    await validator.close();
    await database.drop();
  });

  /** Runs a block of code whose calls end like this, and are not measured to have taken any time. */
  function runOnce(run: Sandbox['run']) {
    const { db } = database;
    const deps = {
      ...{ db, validator, balanceLimit: createFairQueue({ capacity: 1 }), gates: createTestGates() },
      ...{ definitions: createFlowDefinitions(db), inProcessRuns: createInProcessRuns(), codePrice: 0.001 },
      sandbox: { run } as unknown as Sandbox,
    };
    const call = {
      callId: account.runs[0] as string,
      stepId: 'b',
      blockKey: 'b',
      input: { ref: MESSAGE_REF },
    };
    const attempt: Attempt = {
      ...attemptOf(1),
      keep(kept) {
        this.kept = kept;
        return true;
      },
    };
    return runCode(deps, createBlockExecutor(deps), { ...call, ends: false }, attempt);
  }
  const assertNothingReserved = async () => assert.equal((await audit(database.db, account)).reserved, 0);

  it('leaves no credits reserved when it has cost nothing', async () => {
    assert.deepEqual(await runOnce(async () => ({ output: 2 })), { ref: 'b', json: 2, bytes: 1 });
    await assertNothingReserved();
  });

  it('is charged for its time when it has crashed, and leaves no credits reserved', async () => {
    await assert.rejects(
      runOnce(() => Promise.reject(new SandboxCrashed('ended (SIGSEGV)'))),
      { code: 'CODE_ERROR' },
    );
    await assertNothingReserved();
    assert.equal((await audit(database.db, account)).charges.size, 1);
  });

  const unavailable = () => new SandboxUnavailable('ended (SIGKILL)');

  it('leaves no credits reserved when its attempt has failed', async () => {
    await assert.rejects(
      runOnce(() => Promise.reject(unavailable())),
      SandboxUnavailable,
    );
    await assertNothingReserved();
  });

  it('leaves to the attempt in its place the credits that this one has reserved', async () => {
    await assert.rejects(
      runOnce(async () => {
        const { organizationId, runs } = account;
        const block = { callId: runs[0] as string, blockKey: 'b', organizationId };
        await reserveCredits(database.db, { ...block, microcredits: 5, maxMicrocredits: undefined });
        throw unavailable();
      }),
      SandboxUnavailable,
    );
    assert.equal((await audit(database.db, account)).reserved, 5);
  });
});

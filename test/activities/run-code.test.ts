// Failures under a code block, and whose fault they are (activities/run-code.ts).
import assert from 'node:assert/strict';
import { NoRoom } from '../../activities/attempts/no-room.ts';
import type { Attempt } from '../../activities/attempts/run-attempt.ts';
import { type BlockExecutor, createBlockExecutor } from '../../activities/block-executor.ts';
import type { CodeTurn, Sandbox } from '../../activities/code/sandbox.ts';
import { SandboxCrashed, SandboxUnavailable } from '../../activities/code/sandbox-errors.ts';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { runCode } from '../../activities/run-code.ts';
import type { Db } from '../../db/connect.ts';
import { reserveCredits } from '../../db/credits/reservations.ts';
import { createFlowDefinitions } from '../../db/flows/flow-definitions.ts';
import { MESSAGE_REF } from '../../flow/value.ts';
import { createValidator } from '../../platform/json-schema/validator.ts';
import { createLargeValues } from '../../platform/large-values/large-values.ts';
import { createFairQueue } from '../../platform/limits/fair-queue.ts';
import { code } from '../blocks.ts';
import { type Account, audit, openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { waitUntil } from '../wait-until.ts';
import { attemptOf } from './attempt-of.ts';

const CALL = { callId: 'e', stepId: 's', blockKey: 's', input: { ref: 's' }, ends: false };

describe('runCode', () => {
  /**
   * A block whose processes fail like this, one call after the other; `turns`: how many there are and have ended. One that is
   * slow has its input when its turn has ended; `room` is for its first turn then.
   */
  function start(errors: Error[], { isLocal = false, room = true, isSlow = false } = {}) {
    const turns = { begun: 0, ended: 0 };
    const turn = {
      async run() {
        const error = errors.shift();
        if (error) throw error;
        return { output: 7 };
      },
      end() {
        turns.ended += 1;
      },
    };
    const begin = async () => {
      turns.begun += 1;
      return turn;
    };
    const sandbox = {
      wait: begin,
      waitBriefly: async () => (room && turns.begun === 0 ? begin() : undefined),
    } as unknown as Sandbox;
    const run: BlockExecutor['run'] = async (_call, _attempt, process) => {
      if (isSlow) await waitUntil(() => turns.ended > 0);
      const usage = { promptTokens: 0, completionTokens: 0, costMicrocredits: 0 };
      const given = { block: {}, input: null, usage } as unknown as Parameters<typeof process>[0];
      return { ref: 's', json: (await process(given)).output };
    };
    const always = { find: async () => ({ organizationId: 'organization' }), hasRoom: async () => true };
    const blocks = { ...always, run } as unknown as BlockExecutor;
    const attempt = { isLocal, signal: new AbortController().signal } as Attempt;
    const deps = { sandbox, db: {} as Db, balanceLimit: createFairQueue({ capacity: 1 }), codePrice: 0 };
    return { turns, reply: runCode(deps, blocks, CALL, attempt) };
  }
  const crash = () => new SandboxCrashed('ended (SIGSEGV)');

  it('repeats what crashed its process, twice', async () => {
    assert.deepEqual(await start([crash(), crash()]).reply, { ref: 's', json: 7 });
  });

  it('takes a third crash for the fault of the code', async () => {
    const { reply, turns } = start([crash(), crash(), crash()]);
    await assert.rejects(reply, { code: 'CODE_ERROR', message: /crashed its sandbox/ });
    assert(turns.ended >= turns.begun);
  });

  it('leaves to the engine what was killed or could not start: it counts for nothing', async () => {
    const { reply, turns } = start([crash(), crash(), new SandboxUnavailable('ended (SIGKILL)')]);
    await assert.rejects(reply, SandboxUnavailable);
    assert(turns.ended >= turns.begun);
  });

  it('throws NoRoom rather than wait in a local activity', async () => {
    await assert.rejects(start([], { isLocal: true, room: false }).reply, NoRoom);
    assert.deepEqual(await start([], { isLocal: true }).reply, { ref: 's', json: 7 });
  });

  it('leaves its turn to others while its input is read for long, and takes another then', async () => {
    const { reply, turns } = start([], { isSlow: true });
    assert.deepEqual(await reply, { ref: 's', json: 7 });
    assert.equal(turns.begun, 2);
    await assert.rejects(start([], { isLocal: true, isSlow: true }).reply, NoRoom);
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
  function runOnce(run: CodeTurn['run']) {
    const { db } = database;
    const deps = {
      ...{ db, validator, balanceLimit: createFairQueue({ capacity: 1 }), largeValues: createLargeValues() },
      ...{ definitions: createFlowDefinitions(db), inProcessRuns: createInProcessRuns(), codePrice: 0.001 },
      sandbox: { wait: async () => ({ run, end: () => undefined }) } as unknown as Sandbox,
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

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { sql } from 'kysely';
import type { ActivityDeps } from '../../activities/activity-deps.ts';
import { createInProcessRuns, type InProcessRuns } from '../../activities/in-process-runs.ts';
import { createActivities } from '../../activities/index.ts';
import type { Db } from '../../db/connect.ts';
import { ServiceError } from '../../flow/errors.ts';
import { RUN_TESTS } from '../../flow/test-case.ts';
import { createFairQueue, type FairQueue, PermitRejected } from '../../platform/limits/fair-queue.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
import { createFullGate } from '../full-gate.ts';
import { waitUntil } from '../wait-until.ts';
import { inActivity } from './in-activity.ts';

describe('a test case that begins', () => {
  let database: TestDatabase;
  let db: Db;
  let inProcessRuns: InProcessRuns;
  let executionId: string;
  let organizationId: string;

  before(async () => {
    database = await createTestDatabase();
    db = database.db;
    ({ organizationId } = await openAccount(db, 0, 1));
  });
  beforeEach(async () => {
    inProcessRuns = createInProcessRuns();
    executionId = randomUUID();
    const testRunId = randomUUID();
    await sql`
      insert into test_run (id, flow_id, flow_version_id)
      select ${testRunId}, flow_id, flow_version_id from run limit 1`.execute(db);
    await sql`
      insert into test_result (test_run_id, test_case_id, position, name, execution_id, input, expectation)
      values (${testRunId}, ${randomUUID()}, 0, 'case', ${executionId}, '{"message":"m","parameters":{}}',
        '{"type":"equals","value":1}')`.execute(db);
  });
  after(() => database.drop());

  function accept(runStarts?: FairQueue, signal = new AbortController().signal): Promise<void> {
    const deps = { db, inProcessRuns, runStarts } as unknown as ActivityDeps;
    const info = {
      attempt: 1,
      isLocal: false,
      workflowType: RUN_TESTS,
      workflowExecution: { workflowId: randomUUID() },
      activityType: 'acceptTest',
    };
    const context = { info, cancellationSignal: signal, heartbeat: () => undefined };
    return inActivity(context, () => createActivities(deps).acceptTest(executionId));
  }

  const isAccepted = async () =>
    (await db
      .selectFrom('run')
      .select('execution_id')
      .where('execution_id', '=', executionId)
      .executeTakeFirst()) !== undefined;
  const comesAgain = (error: unknown) =>
    error instanceof ApplicationFailure && error.type === 'WAITS_FOR_PERMIT' && !error.nonRetryable;

  it('is queued behind what callers wait for, and is not accepted before', async () => {
    const gate = createFairQueue({ capacity: 1 });
    const first = await gate.acquire(organizationId);
    const accepted = accept(gate);
    await waitUntil(() => gate.count().queued === 1);
    const call = gate.acquire(organizationId);
    first.release();
    const permit = await call;
    assert.equal(await isAccepted(), false);
    permit.release();
    await accepted;
    assert.equal(await isAccepted(), true);
  });

  it('keeps its permit until its run ends', async () => {
    const gate = createFairQueue({ capacity: 1 });
    await accept(gate);
    assert.equal(gate.count().inFlight, 1);
    inProcessRuns.end(executionId, {
      status: 'failed',
      error: { code: 'INTERNAL_ERROR', message: 'm', reason: 'error' },
    });
    assert.equal(gate.count().inFlight, 0);
  });

  it('releases its permit when its test run was cancelled meanwhile', async () => {
    const gate = createFairQueue({ capacity: 1 });
    await db.updateTable('test_run').set({ cancel_requested_at: new Date() }).execute();
    await assert.rejects(accept(gate), { type: 'CANCELLED', nonRetryable: true });
    assert.equal(gate.count().inFlight, 0);
  });

  const closed = createFullGate();
  closed.close(new ServiceError('SERVICE_STOPPING', 'Try again.'));
  const gates = {
    'the queue is full': createFullGate({ queuedMax: 0 }),
    'the API stops': closed,
    'it was queued for long': {
      ...createFullGate(),
      acquire: () => Promise.reject(new PermitRejected('deadline', 'key', 1_000)),
    },
  };
  for (const [why, gate] of Object.entries(gates))
    it(`comes again later when it gets no permit: ${why}`, async () => {
      await assert.rejects(accept(gate), comesAgain);
      assert.equal(await isAccepted(), false);
    });

  it('is for another worker when its own stops while it waits', async () => {
    const stop = new AbortController();
    const gate = createFullGate();
    const waiting = accept(gate, stop.signal);
    await waitUntil(() => gate.count().queued === 1);
    stop.abort(new CancelledFailure('WORKER_SHUTDOWN'));
    await assert.rejects(waiting, { type: 'WORKER_SHUTDOWN', nonRetryable: false });
  });

  it('waits for nothing where its worker is alone: there Temporal serves organizations in turn', async () => {
    await accept();
    assert.equal(await isAccepted(), true);
  });
});

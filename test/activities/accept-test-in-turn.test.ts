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
import type { EnterPlace } from '../../platform/limits/place.ts';
import { openAccount } from '../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../db/test-database.ts';
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

  function accept(enterPlace?: EnterPlace, signal = new AbortController().signal): Promise<void> {
    const deps = { db, inProcessRuns, enterPlace } as unknown as ActivityDeps;
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

  /** A place that counts how often it was ended. */
  function createPlace() {
    const place = {
      ends: 0,
      end() {
        place.ends += 1;
      },
      holdFor: () => undefined,
    };
    return place;
  }

  const isAccepted = async () =>
    (await db
      .selectFrom('run')
      .select('execution_id')
      .where('execution_id', '=', executionId)
      .executeTakeFirst()) !== undefined;
  const comesAgain = (error: unknown) =>
    error instanceof ApplicationFailure && error.type === 'WAITS_FOR_PERMIT' && !error.nonRetryable;

  it('waits for its organization’s turn behind what callers wait for, and is not accepted before', async () => {
    const turn = Promise.withResolvers<ReturnType<typeof createPlace>>();
    const asked: unknown[] = [];
    const accepted = accept((organization, _createSignal, options) => {
      asked.push([organization, options]);
      return turn.promise;
    });
    await waitUntil(() => asked.length > 0);
    assert.deepEqual(asked, [[organizationId, { patient: true }]]);
    assert.equal(await isAccepted(), false);
    turn.resolve(createPlace());
    await accepted;
    assert.equal(await isAccepted(), true);
  });

  it('holds its place until its run ends', async () => {
    const place = createPlace();
    await accept(async () => place);
    assert.equal(place.ends, 0);
    inProcessRuns.end(executionId, {
      status: 'failed',
      error: { code: 'INTERNAL_ERROR', message: 'm', reason: 'error' },
    });
    assert.equal(place.ends, 1);
  });

  it('gives its place back when its test run was cancelled meanwhile', async () => {
    const place = createPlace();
    const cancelled = accept(async () => {
      await db.updateTable('test_run').set({ cancel_requested_at: new Date() }).execute();
      return place;
    });
    await assert.rejects(cancelled, { type: 'CANCELLED', nonRetryable: true });
    assert.equal(place.ends, 1);
  });

  for (const code of ['RATE_LIMITED', 'SERVICE_BUSY', 'SERVICE_STOPPING'] as const)
    it(`comes again later when it is refused a place: ${code}`, async () => {
      await assert.rejects(
        accept(() => Promise.reject(new ServiceError(code, 'Try again.'))),
        comesAgain,
      );
      assert.equal(await isAccepted(), false);
    });

  it('is for another worker when its own stops while it waits', async () => {
    const stop = new AbortController();
    const waiting = accept((_organization, createSignal) => {
      const gone = Promise.withResolvers<never>();
      createSignal().addEventListener('abort', () =>
        gone.reject(new ServiceError('REQUEST_TIMEOUT', 'Gone.')),
      );
      stop.abort(new CancelledFailure('WORKER_SHUTDOWN'));
      return gone.promise;
    }, stop.signal);
    await assert.rejects(waiting, { type: 'WORKER_SHUTDOWN', nonRetryable: false });
  });

  it('waits for nothing where its worker is alone: there Temporal serves organizations in turn', async () => {
    await accept();
    assert.equal(await isAccepted(), true);
  });
});

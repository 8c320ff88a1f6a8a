import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { listRecordedBlocks } from '../../../db/runs/recorded-blocks.ts';
import { finishRun, getRunInput } from '../../../db/runs/runs.ts';
import { loadReferences } from '../../../db/stored-values/load-references.ts';
import { deleteOld } from '../../../db/upkeep/delete-old.ts';
import { redeliver } from '../../../db/webhooks/open-deliveries.ts';
import { MESSAGE_REF } from '../../../flow/value.ts';
import { type Account, openAccount, settle } from '../credits/ledger-fixture.ts';
import { duringTransaction } from '../during-transaction.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const DAYS = 30;

describe('retention', () => {
  let database: TestDatabase;
  let account: Account;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    account = await openAccount(database.db, 100, 3);
    for (const executionId of account.runs) {
      await settle(database.db, account, { callId: executionId, blockKey: 'ask', costMicrocredits: 5 });
      await finishRun(database.db, executionId, { status: 'completed', result: { ref: 'ask' } });
    }
  });
  after(() => database.drop());

  const age = (executionId: string, days: number) =>
    sql`update run set started_at = started_at - ${days} * interval '1 day',
      finished_at = finished_at - ${days} * interval '1 day' where execution_id = ${executionId}`.execute(
      database.db,
    );
  const left = async (table: 'run' | 'block_run') => {
    const rows = await database.db.selectFrom(table).select('execution_id').execute();
    return account.runs.filter((id) => rows.some(({ execution_id }) => execution_id === id));
  };
  /** A call that goes on with a run, as a resume. */
  const goOnWith = async (executionId: string, status: 'started' | 'completed') => {
    const call = randomUUID();
    await sql`insert into run (execution_id, organization_id, project_id, flow_id, flow_version_id, mode, environment,
        status, input, continues, started_at)
      select ${call}, organization_id, project_id, flow_id, flow_version_id, mode, environment,
        ${status}, input, execution_id, started_at from run where execution_id = ${executionId}`.execute(
      database.db,
    );
    await sql`update run set concluded_by = ${call} where execution_id = ${executionId}`.execute(database.db);
    return call;
  };
  const deliver = async (executionId: string | null, status: string, days: number) => {
    const { rows } = await sql<{ id: string }>`
      insert into webhook_delivery (organization_id, execution_id, event_type, target_url, status, created_at)
      values (${account.organizationId}, ${executionId}, 'flow.completed', 'https://h.test', ${status},
        now() - ${days} * interval '1 day') returning id`.execute(database.db);
    await sql`insert into webhook_attempt (delivery_id, round, attempt) values (${rows[0]?.id}, 1, 1)`.execute(
      database.db,
    );
    return rows[0]?.id as string;
  };
  /** A test run with a result that began, and unless it is under way ended, before the limit. */
  const endTestRun = async (status: 'started' | 'completed' | 'cancelled') => {
    const id = randomUUID();
    const ended = sql`now() - ${DAYS + 1} * interval '1 day'`;
    await sql`insert into test_run (id, flow_id, flow_version_id, status, started_at, finished_at)
      select ${id}, flow_id, flow_version_id, ${status}, ${ended}, case when ${status} <> 'started' then ${ended} end
      from run where execution_id = ${account.runs[0]}`.execute(database.db);
    await sql`insert into test_result (execution_id, test_run_id, position, test_case_id, name, input, expectation)
      values (gen_random_uuid(), ${id}, 1, gen_random_uuid(), 'n', '{}', '{}')`.execute(database.db);
    return id;
  };
  const deliveries = async () =>
    (await database.db.selectFrom('webhook_delivery').select('id').execute()).map(({ id }) => id);

  it('deletes runs that ended before the limit with their traces, and keeps younger ones and the ledger', async () => {
    const [old, young, younger] = account.runs as [string, string, string];
    await age(old, DAYS + 1);
    await age(young, DAYS - 1);
    const ledger = () => database.db.selectFrom('ledger_entry').selectAll().orderBy('entry_key').execute();
    const before = await ledger();
    assert.equal((await deleteOld(database.db, DAYS, 10)).runs, 1);
    assert.deepEqual(await left('run'), [young, younger]);
    assert.deepEqual(await left('block_run'), [young, younger]);
    assert.deepEqual(await ledger(), before);
  });

  it('keeps work under way however old it is: runs, their later calls, deliveries', async () => {
    const [resumed, delivering, started] = account.runs as [string, string, string];
    await goOnWith(resumed, 'started');
    await deliver(delivering, 'failed_retry', DAYS + 1);
    await sql`update run set status = 'started' where execution_id = ${started}`.execute(database.db);
    for (const executionId of account.runs) await age(executionId, DAYS + 1);
    assert.equal((await deleteOld(database.db, DAYS, 10)).runs, 0);
    assert.deepEqual(await left('run'), account.runs);
  });

  it('counts the age of a run that waits for tool results from its pause, be it that of its first call or of a later one', async () => {
    const { db } = database;
    const [recent, resumed, old] = account.runs as [string, string, string];
    const call = await goOnWith(resumed, 'completed');
    for (const executionId of [...account.runs, call]) {
      await sql`update run set status = 'tool_calls_required', finished_at = null where execution_id = ${executionId}`.execute(
        db,
      );
      await age(executionId, DAYS + 10);
    }
    const pause = async (executionId: string, days: number) => {
      await sql`update block_run set finished_at = now() - ${days} * interval '1 day' where execution_id = ${executionId}`.execute(
        db,
      );
    };
    await settle(db, account, { callId: call, blockKey: 'ask' });
    await pause(recent, DAYS - 1);
    await pause(resumed, DAYS + 9);
    await pause(call, DAYS - 1);
    await pause(old, DAYS + 1);
    assert.equal((await deleteOld(db, DAYS, 10)).runs, 1);
    assert.deepEqual(await left('run'), [recent, resumed]);
  });

  it('deletes with a run its calls, its deliveries and their attempts, and its Idempotency-Key', async () => {
    const [old] = account.runs as [string];
    const call = await goOnWith(old, 'completed');
    const delivery = await deliver(old, 'dead_letter', 0);
    await sql`insert into idempotency_key (project_id, endpoint, key, execution_id, digest)
      select project_id, 'execute', 'k', execution_id, '\\x00' from run where execution_id = ${old}`.execute(
      database.db,
    );
    await age(old, DAYS + 1);
    await age(call, DAYS + 1);
    assert.equal((await deleteOld(database.db, DAYS, 10)).runs, 1);
    const gone = await database.db
      .selectFrom('run')
      .select('execution_id')
      .where('execution_id', '=', call)
      .execute();
    assert.deepEqual(gone, []);
    assert.ok(!(await deliveries()).includes(delivery));
  });

  it('deletes old deliveries that were tests, and old test runs with their results', async () => {
    const [kept, old] = [await deliver(null, 'succeeded', 0), await deliver(null, 'succeeded', DAYS + 1)];
    const open = await deliver(null, 'pending', DAYS + 1);
    await endTestRun('completed');
    await endTestRun('cancelled');
    const under = await endTestRun('started');
    await deleteOld(database.db, DAYS, 10);
    const now = await deliveries();
    assert.deepEqual(
      [kept, old, open].map((id) => now.includes(id)),
      [true, false, true],
    );
    const left = await database.db.selectFrom('test_run').select('id').execute();
    assert.deepEqual(left, [{ id: under }]);
    const results = await database.db.selectFrom('test_result').select('test_run_id as id').execute();
    assert.deepEqual(results, [{ id: under }]);
  });

  it('keeps a delivery that is sent again at that moment, and its run', async () => {
    const [old] = account.runs as [string];
    const { organizationId } = account;
    const ids = [await deliver(old, 'dead_letter', DAYS + 1), await deliver(null, 'succeeded', DAYS + 1)];
    await age(old, DAYS + 1);
    const deleted = await duringTransaction(
      database.db,
      async (tx) => {
        for (const id of ids) await redeliver(tx, organizationId, id);
      },
      () => deleteOld(database.db, DAYS, 10),
    );
    assert.deepEqual(deleted, { runs: 0, testRuns: 0, deliveries: 0 });
    const now = await deliveries();
    assert.ok(ids.every((id) => now.includes(id)));
    assert.ok((await left('run')).includes(old));
  });

  it('answers RUN_NOT_FOUND to readers of a run that is deleted meanwhile', async () => {
    const { db } = database;
    const gone = randomUUID();
    for (const read of [
      () => getRunInput(db, gone),
      () => loadReferences(db, gone, [MESSAGE_REF]),
      () => loadReferences(db, gone, ['a']),
      () => listRecordedBlocks(db, gone, 0n),
    ])
      await assert.rejects(read, { code: 'RUN_NOT_FOUND' });
  });

  it('deletes a limited number at once, each once when several processes share the work', async () => {
    for (const executionId of account.runs) await age(executionId, DAYS + 1);
    const [one, other] = await Promise.all([
      deleteOld(database.db, DAYS, 2),
      deleteOld(database.db, DAYS, 2),
    ]);
    assert.ok(one.runs <= 2 && other.runs <= 2);
    const rest = await deleteOld(database.db, DAYS, 10);
    assert.equal(one.runs + other.runs + rest.runs, 3);
    assert.deepEqual(await left('run'), []);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { sql } from 'kysely';
import { GRPC } from '../../temporal/engine-errors.ts';
import { searchAttributesOf } from '../../temporal/search-attributes-of.ts';
import { createHealthCheck, type HealthCheck } from '../../worker/health-check.ts';
import { registerSearchAttributes } from '../../worker/register-search-attributes.ts';
import { captureLog } from '../capture-log.ts';
import { countLockWaiters } from '../db/lock-waiters.ts';
import { startWeir, type Weir } from '../harness.ts';
import { waitUntil } from '../wait-until.ts';

/** An answer is kept for a second. */
const KEPT_MS = 1_100;
const LACK = 'has not been migrated: run npm run migrate';

describe('the health check', () => {
  let weir: Weir;
  let health: HealthCheck;
  before(async () => {
    weir = await startWeir({ worker: false });
    // The check of the API itself has ended: only the one below writes to the log.
    await fetch(`${weir.url}/readyz`);
    health = createHealthCheck(weir);
    await waitUntil(async () => !(await health.look()).database);
  });
  after(async () => {
    health?.close();
    await weir.stop();
  });

  /** Has one check not answer in time, but late. */
  async function lookTooLate(): Promise<void> {
    const name = new URL(weir.config.databaseUrl).pathname.slice(1);
    // The query of the probe takes longer, so that the one after it may be awaited beyond the time of the check.
    await sql`create schema slow`.execute(weir.db);
    await sql`create function slow.generate_series(integer, integer) returns setof integer language plpgsql as
      $$ begin perform pg_sleep(1); return next 1; end $$`.execute(weir.db);
    await sql`alter database ${sql.id(name)} set search_path = slow, pg_catalog, public`.execute(weir.db);
    await setTimeout(KEPT_MS);
    await weir.db.transaction().execute(async (tx) => {
      await sql`lock table kysely_migration in access exclusive mode`.execute(tx);
      assert.match((await health.look()).database ?? '', /^does not answer/);
    });
    await waitUntil(async () => (await countLockWaiters(weir.db)) === 0);
    await sql`alter database ${sql.id(name)} reset search_path`.execute(weir.db);
    await sql`drop schema slow cascade`.execute(weir.db);
    await setTimeout(KEPT_MS);
  }

  it('names an engine that answers, but serves no workflow', async () => {
    const refused = Object.assign(new Error('shard status unknown'), {
      code: GRPC.unavailable,
      details: '',
      metadata: {},
    });
    const service = Object.create(weir.client.workflowService, {
      describeWorkflowExecution: { value: () => Promise.reject(refused) },
    });
    const client = Object.create(weir.client, { workflowService: { value: service } });
    const half = createHealthCheck({ ...weir, client });
    const engineAway = 'answers, but serves no workflow: its store may be full or away';
    // On a busy machine an answer may come too late.
    await waitUntil(async () => (await half.look()).engine === engineAway);
    half.close();
    await waitUntil(async () => (await health.look()).engine === undefined);
  });

  it('names an engine that does not know the search attributes yet, and not once runs can start', async () => {
    const namespace = `fresh-${randomUUID()}`;
    const connection = weir.client.connection as Connection;
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const client = new Client({ connection, namespace });
    const config = { ...weir.config, temporal: { ...weir.config.temporal, namespace } };
    const fresh = createHealthCheck({ ...weir, client, config });
    await waitUntil(
      async () => (await fresh.look()).engine === 'does not know the search attributes of runs yet',
    );
    await registerSearchAttributes(connection, namespace);
    await waitUntil(async () => (await fresh.look()).engine === undefined);
    fresh.close();
    await client.workflow.start('runFlow', {
      workflowId: 'first',
      taskQueue: 'nobody',
      typedSearchAttributes: searchAttributesOf({
        organization: 'o',
        project: 'p',
        flow: 'f',
        version: 1,
        mode: 'jobs',
        environment: 'live',
      }),
    });
    await client.workflow.getHandle('first').terminate();
  });

  it('logs once what an operator has to mend, however many of its answers come late', async () => {
    const captured = captureLog();
    await sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(
      weir.db,
    );
    const lines = () => captured.lines.filter(({ reason }) => reason === `The database ${LACK}.`).length;
    const isFound = () => waitUntil(async () => (await health.look()).database === LACK);
    await lookTooLate();
    assert.equal(lines(), 0);
    await isFound();
    await waitUntil(() => lines() > 0);
    await lookTooLate();
    await isFound();
    captured.stop();
    assert.equal(lines(), 1);
  });
});

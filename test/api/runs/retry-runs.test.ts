import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { code } from '../../blocks.ts';
import { captureLog } from '../../capture-log.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

describe('POST …/projects/{project_id}/runs/retry', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await startWeir();
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const createFlow = () => weir.createFlow(tenant, [code('a', 'throw new Error("no");')]);
  const fail = async (flow: string): Promise<string> => {
    const body = { message: 'm' };
    return (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body })).body.executionId;
  };
  const retry = (body: object = {}, headers = {}) =>
    weir.call('POST', `/projects/${tenant.projectId}/runs/retry`, { key: tenant.key, body, headers });
  const repeats = (answer: { body: { retried: { repeats: string }[] } }) =>
    answer.body.retried.map((run) => run.repeats);
  /** Waits until the new runs have ended. */
  const finish = async (flow: string, { body }: { body: { retried: { executionId: string }[] } }) => {
    for (const { executionId } of body.retried) await weir.finish(flow, executionId, tenant.key);
  };
  const countRuns = async () => {
    const rows = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('project_id', '=', tenant.projectId)
      .execute();
    return rows.length;
  };

  /** Makes the newest attempts of all runs completed ones. */
  const complete = async ({ body }: { body: { retried: { executionId: string }[] } }) => {
    const ids = body.retried.map(({ executionId }) => executionId);
    await weir.db
      .updateTable('run')
      .set({ status: 'completed', error: null })
      .where('execution_id', 'in', ids)
      .execute();
  };

  /** Waits until so many retries wait for the failed run before they store a new one. */
  const retriesWaiting = (count: number) =>
    waitUntil(async () => {
      const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from "run"%for no key update'`.execute(
        weir.db,
      );
      return rows.length >= count;
    });
  const listEntries = () => {
    const entries = weir.db.selectFrom('audit_entry').select('details').orderBy('id');
    const { organizationId } = tenant;
    return entries.where('organization_id', '=', organizationId).where('action', '=', 'runs.retry').execute();
  };
  const takeCredits = () =>
    weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', tenant.organizationId)
      .execute();

  it('retries the failed runs that the filter finds, the newest first, in pages', async () => {
    const [flow, other] = [await createFlow(), await createFlow()];
    const [first, second, third] = [await fail(flow), await fail(flow), await fail(flow)];
    await fail(other);
    const filter = { flow: flow.split('/')[2], mode: 'execute', limit: 2 };
    const page = await retry(filter);
    assert.equal(page.status, 200, JSON.stringify(page.body));
    assert.deepEqual(repeats(page), [third, second]);
    assert.deepEqual([page.body.refused, page.body.stoppedBy, page.body.hasMore], [[], null, true]);
    const rest = await retry({ ...filter, cursor: page.body.nextCursor });
    assert.deepEqual([repeats(rest), rest.body.hasMore], [[first], false]);
    for (const answer of [page, rest]) await finish(flow, answer);
    const { executionId } = page.body.retried[0];
    const state = await weir.call('GET', `${flow}/jobs/${executionId}`, { key: tenant.key });
    assert.deepEqual([state.body.status, state.body.mode, state.body.repeats], ['failed', 'jobs', third]);
  });

  it('reads no filter from the address, and says where to send it', async () => {
    const path = `/projects/${tenant.projectId}/runs/retry?flow=hello`;
    const { status, body } = await weir.call('POST', path, { key: tenant.key, body: {} });
    assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR']);
    assert.match(
      body.detail.message,
      /^flow: is not read from the address: send the filter as JSON in the body/,
    );
  });

  it('retries no run twice, also when it is sent twice at the same time', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const answers = await Promise.all([retry(), retry()]);
    assert.deepEqual(answers.flatMap(repeats), [id]);
    for (const answer of answers) await finish(flow, answer);
    await complete({ body: { retried: answers.flatMap(({ body }) => body.retried) } });
    const again = await retry({ mode: 'execute' });
    assert.deepEqual(
      again.body.refused.map((run: { executionId: string; code: string }) => [run.executionId, run.code]),
      [[id, 'CONFLICT']],
    );
    assert.equal(await countRuns(), 2);
  });

  it('counts a run that another bulk retry retried at the same time as refused', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const answers = await weir.db.transaction().execute(async (tx) => {
      await tx.selectFrom('run').select('execution_id').where('execution_id', '=', id).forUpdate().execute();
      const both = [retry(), retry()];
      // One waits for the failed run, the other for the first.
      await waitUntil(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(weir.db);
        return rows.length >= 2;
      });
      return both;
    });
    const bulks = [];
    for (const answer of await Promise.all(answers)) {
      await finish(flow, answer);
      const path = `/projects/${tenant.projectId}/bulk-retries/${answer.body.bulk_id}`;
      const { planned, started, refused } = (await weir.call('GET', path, { key: tenant.key })).body;
      bulks.push([planned, started, refused]);
    }
    assert.deepEqual(bulks.toSorted(), [
      [1, 0, 1],
      [1, 1, 0],
    ]);
    assert.equal(await countRuns(), 2);
  });

  it('retries the newest failed attempt of each run, as often as it fails, and leaves cancelled runs alone', async () => {
    const flow = await createFlow();
    const [first, cancelled] = [await fail(flow), await fail(flow)];
    const error = JSON.stringify({ code: 'CANCELLED', message: 'The run was cancelled.', reason: 'error' });
    await weir.db.updateTable('run').set({ error }).where('execution_id', '=', cancelled).execute();
    const attempts = [first];
    for (let i = 0; i < 3; i++) {
      const answer = await retry();
      assert.deepEqual(repeats(answer), attempts.slice(-1));
      await finish(flow, answer);
      attempts.push(answer.body.retried[0].executionId);
    }
    const newest = attempts.at(-1) as string;
    const dry = await retry({ dryRun: true });
    assert.deepEqual(dry.body.matching, [newest]);
    const reasons = Object.fromEntries(
      dry.body.refused.map((run: { executionId: string; errorMessage: string }) => [
        run.executionId,
        run.errorMessage,
      ]),
    );
    for (const id of attempts.slice(0, -1))
      assert.match(reasons[id], new RegExp(`run again already, as ${newest}`));
    assert.match(
      reasons[cancelled],
      /was cancelled: retry it by its id, or cancelled runs with the outcome cancelled/,
    );
    assert.equal(await countRuns(), 5);
  });

  it('retries the newest failed attempt also where the filter finds only earlier ones, once, on whatever page', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const before = new Date().toISOString();
    const first = await retry();
    await finish(flow, first);
    const until = new Date().toISOString();
    const second = await retry();
    await finish(flow, second);
    const newest = second.body.retried[0].executionId;
    for (const filter of [{ until: before }, { until }, { mode: 'execute' }, { version: 1 }]) {
      const { body } = await retry({ ...filter, dryRun: true });
      assert.deepEqual(body.matching, [newest], JSON.stringify(filter));
    }
    const page = await retry({ until, limit: 1 });
    await finish(flow, page);
    assert.deepEqual(repeats(page), [newest]);
    const rest = await retry({ until, limit: 1, cursor: page.body.nextCursor });
    assert.deepEqual(
      [rest.body.retried, rest.body.refused.map((run: { executionId: string }) => run.executionId)],
      [[], [id]],
    );
    assert.equal(await countRuns(), 4);
  });

  it('answers a repeated request the retries of newest attempts that the first one made', async () => {
    const flow = await createFlow();
    const ids = [await fail(flow), await fail(flow)];
    const until = new Date().toISOString();
    await finish(flow, await retry({ until }));
    const keyed = { 'idempotency-key': 'newest' };
    const first = await retry({ until }, keyed);
    await finish(flow, first);
    assert.equal(repeats(first).length, ids.length);
    assert.deepEqual((await retry({ until }, keyed)).body, first.body);
    assert.equal(await countRuns(), 3 * ids.length);
  });

  it('continues after the runs that the filter found, where their newest attempts could not be retried', async () => {
    const flow = await createFlow();
    const [other, id] = [await fail(flow), await fail(flow)];
    const until = new Date().toISOString();
    const first = await retry({ until, limit: 1 });
    await finish(flow, first);
    assert.deepEqual(repeats(first), [id]);
    const newest = first.body.retried[0].executionId;
    await weir.db.updateTable('run').set({ input: sql`'{}'` }).where('execution_id', '=', other).execute();
    const { stop } = captureLog();
    const answer = await retry({ until }).finally(stop);
    await finish(flow, answer);
    assert.deepEqual(
      [repeats(answer), answer.body.stoppedBy, answer.body.nextCursor],
      [[newest], 'INTERNAL_ERROR', id],
    );
  });

  it('retries cancelled runs when it is asked for this outcome', async () => {
    const flow = await createFlow();
    const [failed, cancelled] = [await fail(flow), await fail(flow)];
    const error = JSON.stringify({ code: 'CANCELLED', message: 'The run was cancelled.', reason: 'error' });
    await weir.db.updateTable('run').set({ error }).where('execution_id', '=', cancelled).execute();
    const answer = await retry({ outcome: 'cancelled' });
    assert.deepEqual(repeats(answer), [cancelled]);
    await finish(flow, answer);
    assert.deepEqual((await retry({ outcome: 'failed', mode: 'execute', dryRun: true })).body.matching, [
      failed,
    ]);
  });

  it('retries no attempt of a run whose newest attempt is another one', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const one = await weir.call('POST', `${flow}/jobs/${id}/retry`, { key: tenant.key });
    await weir.finish(flow, one.body.executionId, tenant.key);
    const other = await weir.call('POST', `${flow}/jobs/${id}/retry`, { key: tenant.key });
    await weir.finish(flow, other.body.executionId, tenant.key);
    await weir.db
      .updateTable('run')
      .set({ status: 'completed', error: null })
      .where('execution_id', '=', other.body.executionId)
      .execute();
    const { body } = await retry({ dryRun: true });
    assert.deepEqual(body.matching, []);
    assert.equal(body.refused.length, 2);
  });

  it('is named by each run that was run again: the newest attempt, in the run and in lists', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const repeatedBy = async (of: string) => {
      const { body } = await weir.call('GET', `${flow}/jobs/${of}`, { key: tenant.key });
      const { runs } = (await weir.call('GET', `${flow}/runs`, { key: tenant.key })).body;
      const listed = runs.find(({ executionId }: { executionId: string }) => executionId === of);
      assert.equal(listed.repeatedBy, body.repeatedBy);
      return body.repeatedBy;
    };
    assert.equal(await repeatedBy(id), null);
    const first = await retry();
    await finish(flow, first);
    const second = await retry();
    await finish(flow, second);
    const [one, two] = [first.body.retried[0].executionId, second.body.retried[0].executionId];
    assert.deepEqual([await repeatedBy(id), await repeatedBy(one), await repeatedBy(two)], [two, two, null]);
  });

  it('retries no run that a request of its own has retried since the runs were listed', async () => {
    const flow = await createFlow();
    const id = await fail(flow);
    const { single, bulk } = await weir.db.transaction().execute(async (tx) => {
      // Both have found the run not repeated, and come to store their new runs one after the other.
      const run = tx.selectFrom('run').select('execution_id').where('execution_id', '=', id).forUpdate();
      await run.execute();
      const single = weir.call('POST', `${flow}/jobs/${id}/retry`, { key: tenant.key });
      await retriesWaiting(1);
      const bulk = retry();
      await retriesWaiting(2);
      return { single, bulk };
    });
    const { executionId } = (await single).body;
    const { body } = await bulk;
    assert.deepEqual(
      [
        body.retried,
        body.refused.map((run: { executionId: string; code: string }) => [run.executionId, run.code]),
      ],
      [[], [[id, 'CONFLICT']]],
    );
    assert.match(body.refused[0].errorMessage, new RegExp(`again already, as ${executionId}`));
    await weir.finish(flow, executionId, tenant.key);
    assert.equal(await countRuns(), 2);
  });

  it('is in the audit log with its filter and how many runs it found, also when it is refused', async () => {
    const flow = await createFlow();
    await fail(flow);
    const filter = { flow: flow.split('/')[2], mode: 'execute', limit: 5 };
    const first = await retry(filter);
    await finish(flow, first);
    await complete(first);
    assert.deepEqual((await retry(filter)).body.retried, []);
    await fail(flow);
    await takeCredits();
    assert.equal((await retry(filter)).status, 402);
    const entries = (await listEntries()).map(({ details: { bulk_id: id, ...details } }) => ({
      id,
      details,
    }));
    assert.deepEqual(
      entries.map(({ details }) => details),
      [1, 0, 1].map((matching) => ({ ...filter, on_version: 'original', matching })),
    );
    assert.deepEqual([entries[0]?.id, entries[1]?.id], [first.body.bulk_id, undefined]);
  });

  it('retries no run of which it could not leave an entry in the audit log', async () => {
    const flow = await createFlow();
    await fail(flow);
    await sql`alter table audit_entry add constraint refused check (false) not valid`.execute(weir.db);
    try {
      assert.equal((await retry()).status, 500);
      assert.equal(await countRuns(), 1);
    } finally {
      await sql`alter table audit_entry drop constraint refused`.execute(weir.db);
    }
  });

  it('goes on past runs that cannot be retried, with the reason of each', async () => {
    const flow = await createFlow();
    const headers = { 'x-weir-model-key': 'openai=sk-mine' };
    const { key } = tenant;
    const keyed = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' }, headers });
    const plain = await fail(flow);
    const { body } = await retry();
    assert.deepEqual(repeats({ body }), [plain]);
    assert.equal(body.refused[0].executionId, keyed.body.executionId);
    assert.match(body.refused[0].errorMessage, /a key for openai/);
    await finish(flow, { body });
    await complete({ body });
    const withKey = await retry({ mode: 'execute' }, headers);
    assert.deepEqual(repeats(withKey), [keyed.body.executionId]);
    await finish(flow, withKey);
  });

  it('finds runs by the code of their error, and only says which when it is asked to', async () => {
    const flow = await createFlow();
    const [first, second] = [await fail(flow), await fail(flow)];
    const error = JSON.stringify({ code: 'MODEL_UNAVAILABLE', message: 'No.', reason: 'error' });
    await weir.db.updateTable('run').set({ error }).where('execution_id', '=', first).execute();
    const asked = await retry({ errorCode: 'MODEL_UNAVAILABLE', dryRun: true });
    assert.equal(asked.status, 200, JSON.stringify(asked.body));
    assert.deepEqual([asked.body.matching, asked.body.retried], [[first], []]);
    assert.equal(await countRuns(), 2);
    const answer = await retry({ errorCode: 'MODEL_UNAVAILABLE' });
    assert.deepEqual(repeats(answer), [first]);
    await finish(flow, answer);
    await complete(answer);
    const rest = await retry({ mode: 'execute', dryRun: true });
    assert.deepEqual([rest.body.matching, rest.body.refused.length], [[second], 1]);
    assert.equal((await retry({ errorCode: 'no such code' })).status, 422);
  });

  it('is 402 without credits, and starts nothing', async () => {
    const flow = await createFlow();
    await fail(flow);
    await takeCredits();
    assert.equal((await retry()).status, 402);
    assert.equal(await countRuns(), 1);
  });

  it('stops at an error of the service, which is logged, and says so', async () => {
    const flow = await createFlow();
    const [broken, sound] = [await fail(flow), await fail(flow)];
    await weir.db.updateTable('run').set({ input: sql`'{}'` }).where('execution_id', '=', broken).execute();
    const { lines, stop } = captureLog();
    const answer = await retry().finally(stop);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual([repeats(answer), answer.body.stoppedBy], [[sound], 'INTERNAL_ERROR']);
    assert.deepEqual([answer.body.hasMore, answer.body.nextCursor], [true, sound]);
    assert.ok(
      lines.some(({ repeats, level }) => repeats === broken && level === 'error'),
      JSON.stringify(lines),
    );
    await finish(flow, answer);
  });

  it('names what is wrong in a 422', async () => {
    for (const [body, field] of [
      [{ limit: 101 }, 'limit'],
      [{ status: 'failed' }, 'status'],
      [{ cursor: tenant.projectId }, 'cursor'],
      [{ since: 'yesterday' }, 'since'],
    ] as const) {
      const { status, body: answer } = await retry(body);
      assert.deepEqual([status, answer.detail.errors[0].field], [422, field]);
    }
  });
});

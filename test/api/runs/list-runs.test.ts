import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { code, passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('GET …/runs', () => {
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const list = (flow: string, query = '') => weir.call('GET', `${flow}/runs${query}`, { key: tenant.key });
  const ids = async (flow: string, query = ''): Promise<string[]> =>
    (await list(flow, query)).body.runs.map((run: { executionId: string }) => run.executionId);
  const run = async (path: string, message = ''): Promise<string> =>
    (await weir.call('POST', path, { key: tenant.key, body: { message } })).body.executionId;

  it('lists the runs of a flow, newest first, as GET …/jobs has them without result, blocks and deliveries', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    await weir.createFlow(tenant, []).then((other) => run(`${other}/execute`));
    const first = await run(`${flow}/execute`);
    const second = await run(`${flow}/execute`);
    const { status, body } = await list(flow);
    assert.equal(status, 200);
    assert.deepEqual([body.hasMore, body.nextCursor], [false, null]);
    const states = await Promise.all(
      [second, first].map(async (id) => {
        const { result, blocks, deliveries, ...state } = (
          await weir.call('GET', `${flow}/jobs/${id}`, { key: tenant.key })
        ).body;
        return state;
      }),
    );
    assert.deepEqual(body.runs, states);
  });

  it('counts the blocks of a version once, and loads it no more', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const executionId = await run(`${flow}/execute`);
    const ofRun = weir.db
      .selectFrom('flow_version')
      .innerJoin('run', 'run.flow_version_id', 'flow_version.id')
      .select(['flow_version.id', 'block_count'])
      .where('execution_id', '=', executionId);
    assert.equal((await ofRun.executeTakeFirstOrThrow()).block_count, null);
    assert.equal((await list(flow)).body.runs[0].blockCount, 2);
    assert.equal((await ofRun.executeTakeFirstOrThrow()).block_count, 2);
  });

  it('takes the number of blocks from the version, whose definition it does not load', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a'), passthrough('b')]);
    const executionId = await run(`${flow}/execute`);
    await weir.db
      .updateTable('flow_version')
      .set({ block_count: 7 })
      .where('id', '=', (eb) =>
        eb.selectFrom('run').select('flow_version_id').where('execution_id', '=', executionId),
      )
      .execute();
    assert.equal((await list(flow)).body.runs[0].blockCount, 7);
  });

  it('filters by status, mode, environment, version and time', async () => {
    const flow = await weir.createFlow(tenant, [code('a', 'if (message) throw new Error(message);')]);
    const completed = await run(`${flow}/execute`);
    const failed = await run(`${flow}/execute`, 'no');
    const job = await run(`${flow}/jobs`);
    await weir.finish(flow, job, tenant.key);
    const { id } = await weir.db
      .selectFrom('flow')
      .select('id')
      .where('slug', '=', flow.split('/')[2] as string)
      .executeTakeFirstOrThrow();
    await setProductionVersion(weir.db, id, await publishVersion(weir.db, id, 'again'));
    const newer = await run(`${flow}/execute`);
    const all = [newer, job, failed, completed];
    await weir.db
      .updateTable('run')
      .set({ environment: 'test', started_at: new Date('2020-02-02T12:00:00Z') })
      .where('execution_id', '=', completed)
      .execute();
    const table: [string, string[]][] = [
      ['', all],
      ['?status=failed', [failed]],
      ['?status=started', []],
      ['?mode=jobs', [job]],
      ['?environment=test', [completed]],
      ['?environment=live&status=completed', [newer, job]],
      ['?version=2', [newer]],
      ['?version=7', []],
      ['?since=2020-02-02T12:00:00.001Z', [newer, job, failed]],
      ['?since=2020-02-02T13:00:00%2B01:00', all],
      ['?since=2020-02-02T12:00:00.001', [newer, job, failed]],
      ['?until=2020-02-02T12:00:00Z', []],
      ['?since=2020-02-02&until=2020-02-03', [completed]],
      [`?key=${tenant.keyId}`, all],
      [`?key=${tenant.keyId}&version=2`, [newer]],
      ['?key=AAAAAAAA', []],
      [`?id=${failed.slice(0, 24)}`, [failed]],
      [`?id=${failed}&status=completed`, []],
      ['?minCost=0.000001', []],
      ['?minCost=0', all],
    ];
    for (const [query, expected] of table) assert.deepEqual(await ids(flow, query), expected, query);
  });

  it('pages through runs that started at the same time, each once, while newer ones arrive', async () => {
    const flow = await weir.createFlow(tenant, []);
    const started = new Set(await Promise.all(Array.from({ length: 7 }, () => run(`${flow}/execute`))));
    await weir.db
      .updateTable('run')
      .set({ started_at: new Date('2021-01-01') })
      .where('execution_id', 'in', [...started])
      .execute();
    const seen: string[] = [];
    let cursor = '';
    for (const size of [3, 3, 1]) {
      const { body } = await list(flow, `?limit=3&since=2021-01-01&until=2021-01-02${cursor}`);
      assert.equal(body.runs.length, size);
      assert.equal(body.hasMore, size === 3);
      seen.push(...body.runs.map((item: { executionId: string }) => item.executionId));
      cursor = `&cursor=${body.nextCursor}`;
      await run(`${flow}/execute`);
    }
    assert.deepEqual(new Set(seen), started);
    assert.equal(seen.length, 7);
  });

  it('lists the oldest runs first when asked, and goes on from any run in both orders', async () => {
    const flow = await weir.createFlow(tenant, [passthrough('a')]);
    const started: string[] = [];
    for (let i = 0; i < 4; i++) started.push(await run(`${flow}/execute`));
    const [, second, third, last] = started;
    assert.deepEqual(await ids(flow, '?order=oldest'), started);
    assert.deepEqual(await ids(flow, '?order=newest'), started.toReversed());
    for (const filter of ['', '&outcome=completed', '&version=1', '&minCost=0', '&version=1&minCost=0']) {
      assert.deepEqual(await ids(flow, `?order=oldest&cursor=${second}&limit=1${filter}`), [third], filter);
      assert.deepEqual(await ids(flow, `?cursor=${third}&limit=1${filter}`), [second], filter);
      assert.deepEqual(await ids(flow, `?order=oldest&cursor=${last}&limit=1${filter}`), [], filter);
    }
    const page = (await list(flow, '?order=oldest&limit=3&minCost=0')).body;
    assert.deepEqual([page.hasMore, page.nextCursor], [true, third]);
  });

  it('answers 50 runs unless asked for 1 to 200', async () => {
    const flow = await weir.createFlow(tenant, []);
    const executionId = await run(`${flow}/execute`);
    const columns = sql`organization_id, project_id, flow_id, flow_version_id, mode, environment, input`;
    await sql`insert into run (execution_id, ${columns}) select gen_random_uuid(), ${columns}
      from run, generate_series(1, 200) where execution_id = ${executionId}`.execute(weir.db);
    assert.equal((await ids(flow)).length, 50);
    assert.equal((await ids(flow, '?limit=1')).length, 1);
    assert.equal((await ids(flow, '?limit=200')).length, 200);
  });

  it('names the wrong parameter of the query in a 422', async () => {
    const flow = await weir.createFlow(tenant, []);
    const table: [string, string][] = [
      ['minCost=-1', 'minCost'],
      ['minCost=1e3', 'minCost'],
      ['id=12345', 'id'],
      ['id=1234567-', 'id'],
      ['key=k', 'key'],
      ['flow=other', 'flow'],
      ['limit=0', 'limit'],
      ['limit=201', 'limit'],
      ['limit=1e2', 'limit'],
      ['limit=', 'limit'],
      ['limit=5&limit=6', 'limit'],
      ['status=done', 'status'],
      ['order=asc', 'order'],
      ['mode=steps', 'mode'],
      ['environment=prod', 'environment'],
      ['version=-1', 'version'],
      ['version=4294967296', 'version'],
      ['since=yesterday', 'since'],
      ['until=2020-13-01', 'until'],
      ['since=2020-01-01T00', 'since'],
      ['cursor=x', 'cursor'],
      ['cursor=%00', 'cursor'],
      [`cursor=${randomUUID()}`, 'cursor'],
      ['colour=red', 'colour'],
      ['__proto__=1', '__proto__'],
    ];
    for (const [query, field] of table) {
      const { status, body } = await list(flow, `?${query}`);
      assert.deepEqual([status, body.detail.code], [422, 'VALIDATION_ERROR'], query);
      assert.equal(body.detail.errors[0].field, field, query);
    }
  });

  it('takes no cursor of another flow, and shows nobody the runs of a foreign one', async () => {
    const flow = await weir.createFlow(tenant, []);
    const other = await weir.createFlow(tenant, []);
    const executionId = await run(`${other}/execute`);
    assert.equal((await list(flow, `?cursor=${executionId}`)).status, 422);
    const stranger = await weir.createTenant();
    const { status, body } = await weir.call('GET', `${other}/runs`, { key: stranger.key });
    const unknown = await weir.call('GET', `${tenant.organization}/project/nothing/runs`, {
      key: stranger.key,
    });
    assert.deepEqual([status, JSON.stringify(body)], [404, JSON.stringify(unknown.body)]);
  });
});

import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

type Group = { error_group: string; flow: string; count: number; executionId: string };

describe('the failed runs of a project', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let slug: string;
  /** Two runs that fail alike, one that fails otherwise, and one that completes. */
  let runs: string[];
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [
      code('pay', 'if (input.startsWith("pay")) throw new Error("no " + input); return input;'),
    ]);
    slug = flow.split('/')[2] as string;
    runs = [];
    for (const message of ['pay 17', 'pay 4', 'pay later', 'Okay']) {
      const { body } = await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { message } });
      runs.push(body.executionId);
    }
  });
  after(() => weir.stop());

  const get = (path: string) =>
    weir.call('GET', `/projects/${tenant.projectId}/runs${path}`, { key: tenant.key });
  const listErrors = async (query = '') => (await get(`/errors${query}`)).body.errors as Group[];
  const ids = async (query: string, path?: string): Promise<string[]> => {
    const { status, body } = path
      ? await weir.call('GET', `${path}/runs${query}`, { key: tenant.key })
      : await get(query);
    assert.equal(status, 200, JSON.stringify(body));
    return body.runs.map((run: { executionId: string }) => run.executionId);
  };

  it('are grouped by what went wrong, the most frequent first', async () => {
    const { status, body } = await get('/errors');
    assert.equal(status, 200, JSON.stringify(body));
    const [first, second] = body.errors;
    const { error_group, errorMessage, firstSeen, lastSeen, ...rest } = first;
    assert.deepEqual(rest, {
      ...{ flow: slug, code: 'CODE_ERROR', step_id: 'pay', block: 'pay', count: 2, executionId: runs[1] },
    });
    assert.match(error_group, /^[0-9a-f]{12}$/);
    assert.match(errorMessage, /no pay 4/);
    assert.ok(firstSeen < lastSeen);
    assert.deepEqual([second.count, second.executionId], [1, runs[2]]);
    assert.deepEqual([body.errors.length, body.hasMore], [2, false]);
    const cut = (await get('/errors?limit=1')).body;
    assert.deepEqual([cut.errors, cut.hasMore], [[first], true]);
  });

  it('can be filtered like a list of runs', async () => {
    const all = await listErrors();
    for (const query of [
      `?flow=${slug}`,
      '?version=1',
      '?outcome=failed',
      '?mode=execute',
      '?environment=live',
    ])
      assert.deepEqual(await listErrors(query), all, query);
    for (const query of ['?flow=other', '?version=2', '?outcome=refused', '?mode=jobs', '?until=2020-01-01'])
      assert.deepEqual(await listErrors(query), [], query);
  });

  it('are listed by their group, in a project and in a flow', async () => {
    const [group] = await listErrors();
    const query = `?error_group=${group?.error_group}`;
    for (const path of [undefined, flow]) {
      assert.deepEqual(await ids(query, path), [runs[1], runs[0]]);
      assert.deepEqual(await ids(`${query}&limit=1&cursor=${runs[1]}`, path), [runs[0]]);
      assert.deepEqual(await ids(`${query}&outcome=refused`, path), []);
    }
  });

  it('are found by a text in their message or error, or by a part of their id', async () => {
    for (const [search, expected] of [
      ['PAY 17', [runs[0]]],
      ['no pay', [runs[2], runs[1], runs[0]]],
      ['okay', [runs[3]]],
      [runs[3]?.slice(-8), [runs[3]]],
      ['unknown', []],
    ] as const)
      assert.deepEqual(await ids(`?search=${search}`), expected, search);
  });

  it('are counted by hour, beside other runs', async () => {
    const { status, body } = await get(`/hours?flow=${slug}`);
    assert.equal(status, 200, JSON.stringify(body));
    const sum = { completed: 0, failed: 0, cancelled: 0, refused: 0, open: 0 };
    for (const hour of body.hours) {
      assert.match(hour.hour, /:00:00\.000Z$/);
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += hour[name];
    }
    assert.deepEqual(sum, { completed: 1, failed: 3, cancelled: 0, refused: 0, open: 0 });
    assert.equal(Date.parse(body.until) - Date.parse(body.since), 24 * 60 * 60 * 1000);
    const [group] = await listErrors();
    const ofGroup = (await get(`/hours?error_group=${group?.error_group}`)).body.hours;
    assert.equal(
      ofGroup.reduce((count: number, hour: { failed: number }) => count + hour.failed, 0),
      2,
    );
    assert.deepEqual((await get('/hours?until=2020-01-01')).body.hours, []);
  });

  it('are retried by their group', async () => {
    const [, group] = await listErrors();
    const retry = (body: object) =>
      weir.call('POST', `/projects/${tenant.projectId}/runs/retry`, { key: tenant.key, body });
    const dry = await retry({ error_group: group?.error_group, dryRun: true });
    assert.deepEqual(dry.body.matching, [runs[2]], JSON.stringify(dry.body));
    const { body } = await retry({ error_group: group?.error_group });
    assert.deepEqual(
      body.retried.map((run: { repeats: string }) => run.repeats),
      [runs[2]],
    );
    await weir.finish(flow, body.retried[0].executionId, tenant.key);
    assert.equal(
      (await listErrors()).find(({ error_group }) => error_group === group?.error_group)?.count,
      2,
    );
  });

  it('are answered with a 422 that names what is wrong', async () => {
    for (const [path, field] of [
      ['?error_group=xyz', 'error_group'],
      ['?search=ab', 'search'],
      [`?search=${'a'.repeat(201)}`, 'search'],
      ['?search=abc%00', 'search'],
      ['/errors?status=failed', 'status'],
      ['/errors?version=0', 'version'],
      ['/errors?limit=201', 'limit'],
      ['/hours?since=2026-01-01&until=2026-02-02', 'since'],
      ['/hours?since=2020-01-01', 'since'],
    ] as const) {
      const { status, body } = await get(path);
      assert.deepEqual([status, body.detail.errors?.[0].field], [422, field], JSON.stringify(body));
    }
  });
});

// Flows over HTTP; who may what is in test/api/app.test.ts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { updateDraft } from '../../../db/flows/flows.ts';
import { publishVersion, setProductionVersion } from '../../../db/flows/versions.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import { CANCELLED, type RunError } from '../../../flow/run.ts';
import { code, useManagement } from '../organizations/management-harness.ts';

describe('flows over HTTP', () => {
  const { management, call } = useManagement({ worker: false });

  const flows = () => `/projects/${management.acme.projectId}/flows`;
  const flowPath = () => `${flows()}/${management.acme.flowId}`;
  const create = (slug: string, more: object = {}) => call('POST', flows(), { name: 'F', slug, ...more });
  const auditOf = async (resourceId: string) =>
    (
      await management.weir.db
        .selectFrom('audit_entry')
        .select(['action', 'details'])
        .where('resource_id', '=', resourceId)
        .orderBy('id')
        .execute()
    ).map(({ action, details }) => ({ action, details }));

  it('begin with an empty draft and no version', async () => {
    const { status, body } = await create('fresh', { description: 'd' });
    assert.equal(status, 201);
    const { id, createdAt, updatedAt, ...rest } = body;
    assert.deepEqual(rest, {
      projectId: management.acme.projectId,
      slug: 'fresh',
      name: 'F',
      description: 'd',
      productionVersion: null,
      latestVersion: null,
      draftIsProduction: false,
      draftIsPublished: false,
      lastRun: null,
    });
    assert.equal(createdAt, updatedAt);
    assert.deepEqual((await call('GET', `${flows()}/${id}`)).body, body);
    assert.deepEqual(await auditOf(id), [{ action: 'flow.create', details: { slug: 'fresh' } }]);
  });

  it('have slugs that are unique in their project, and free after a deletion', async () => {
    const first = await create('taken');
    assert.deepEqual(code(await create('taken')), [409, 'CONFLICT']);
    assert.equal((await call('DELETE', `${flows()}/${first.body.id}`)).status, 204);
    const second = await create('taken');
    assert.equal(second.status, 201);
    assert.notEqual(second.body.id, first.body.id);
  });

  it('refuse names, slugs and fields that cannot be', async () => {
    for (const body of [
      {},
      { name: 'F' },
      { name: '', slug: 'f' },
      { name: 'F', slug: 'Not a slug' },
      { name: 'F\0', slug: 'f' },
      { name: 'F', slug: 'f', steps: [] },
      { name: 'F', slug: 'f', project_id: randomUUID() },
    ])
      assert.equal((await call('POST', flows(), body)).status, 422, JSON.stringify(body));
    for (const body of [{}, { slug: 'moved' }, { name: '' }, { description: 'x'.repeat(2_001) }])
      assert.equal((await call('PUT', flowPath(), body)).status, 422, JSON.stringify(body));
  });

  it('are listed by slug in pages', async () => {
    for (const slug of ['c', 'a', 'b']) assert.equal((await create(slug)).status, 201);
    const slugs: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await call('GET', `${flows()}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      assert.equal(page.status, 200);
      slugs.push(...page.body.flows.map(({ slug }: { slug: string }) => slug));
      assert.equal(page.body.hasMore, page.body.nextCursor !== null);
      cursor = page.body.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(slugs, ['a', 'b', 'c', 'flow']);
    for (const query of ['limit=0', 'limit=201', 'cursor=%00', 'cursor=A', 'after=a'])
      assert.equal((await call('GET', `${flows()}?${query}`)).status, 422, query);
    const repeated = await call('GET', `${flows()}?limit=1&limit=0`);
    assert.deepEqual([repeated.status, repeated.body.detail.message], [422, 'limit: must be given once']);
  });

  it('are found by a part of their name or slug, in pages', async () => {
    for (const [slug, name] of [
      ['orders-in', 'Read what comes'],
      ['out', 'Send 100% of the ORDERS_'],
      ['other', 'Étude'],
    ])
      assert.equal((await create(slug as string, { name })).status, 201);
    const find = async (query: string) => (await call('GET', `${flows()}?${query}`)).body;
    const slugsOf = async (text: string) =>
      (await find(`search=${encodeURIComponent(text)}`)).flows.map(({ slug }: { slug: string }) => slug);
    assert.deepEqual(await slugsOf('Orders'), ['orders-in', 'out']);
    assert.deepEqual(await slugsOf('%'), ['out']);
    assert.deepEqual(await slugsOf('orders_'), ['out']);
    assert.deepEqual(await slugsOf('étude'), ['other']);
    assert.deepEqual(await slugsOf('nothing'), []);
    const { flows: first, nextCursor } = await find('search=orders&limit=1');
    assert.deepEqual([first.length, nextCursor], [1, 'orders-in']);
    const rest = await find(`search=orders&limit=1&cursor=${nextCursor}`);
    assert.deepEqual([rest.flows[0].slug, rest.hasMore], ['out', false]);
    for (const query of ['search=', 'search=%00', `search=${'x'.repeat(201)}`])
      assert.equal((await call('GET', `${flows()}?${query}`)).status, 422, query);
  });

  it('show how the draft stands to the versions', async () => {
    const { flowId } = management.acme;
    const { db } = management.weir;
    const shown = async () => {
      const { productionVersion, latestVersion, draftIsProduction, draftIsPublished } = (
        await call('GET', flowPath())
      ).body;
      return [productionVersion, latestVersion, draftIsProduction, draftIsPublished];
    };
    assert.deepEqual(await shown(), [null, 1, false, true]);
    await setProductionVersion(db, flowId, 1);
    assert.deepEqual(await shown(), [1, 1, true, true]);
    const step = { type: 'sequential', step_id: 'a', name: 'a', processor_type: 'passthrough' } as const;
    await updateDraft(db, flowId, { steps: [step] });
    assert.deepEqual(await shown(), [1, 1, false, false]);
    await publishVersion(db, flowId, '');
    assert.deepEqual(await shown(), [1, 2, false, true]);
  });

  it('show the run that began last', async () => {
    const { acme, weir } = management;
    const flow = await weir.createFlow(acme, []);
    const slug = flow.split('/')[2];
    const started: string[] = [];
    for (const message of ['1', '2']) {
      const { body } = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message } });
      started.push(body.executionId);
    }
    const { body } = await call('GET', flows());
    const shown = body.flows.find((one: { slug: string }) => one.slug === slug);
    assert.deepEqual([shown.lastRun.executionId, shown.lastRun.status], [started[1], 'started']);
    assert.ok(Date.parse(shown.lastRun.startedAt) > 0);
    assert.deepEqual((await call('GET', `${flows()}/${shown.id}`)).body, shown);
    assert.ok(!('code' in shown.lastRun));
  });

  it('show why the run that began last has failed, or that it was cancelled', async () => {
    const { acme, weir } = management;
    const flow = await weir.createFlow(acme, []);
    const started = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: 'm' } });
    await finishRun(weir.db, started.body.executionId, { status: 'failed', error: CANCELLED });
    const { body } = await call('GET', flows());
    const shown = body.flows.find((one: { slug: string }) => one.slug === flow.split('/')[2]);
    const { status, outcome, code } = shown.lastRun;
    assert.deepEqual([status, outcome, code], ['failed', 'cancelled', 'CANCELLED']);
  });

  it('show why a run has failed whose stored error has U+0000 or half a surrogate pair', async () => {
    const { acme, weir } = management;
    const flow = await weir.createFlow(acme, []);
    for (const odd of ['\0', '\ud800', '\\u0000 \0']) {
      const started = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: 'm' } });
      const error: RunError = { code: 'CODE_ERROR', message: `no ${odd}`, reason: 'error' };
      await finishRun(weir.db, started.body.executionId, { status: 'failed', error });
      const { status, body } = await call('GET', flows());
      assert.equal(status, 200, JSON.stringify(body));
      const shown = body.flows.find((one: { slug: string }) => one.slug === flow.split('/')[2]);
      assert.equal(shown.lastRun.code, 'CODE_ERROR');
    }
  });

  it('change name and description, and record a change alone', async () => {
    const before = (await call('GET', flowPath())).body;
    const renamed = await call('PUT', flowPath(), { name: 'New' });
    assert.deepEqual({ ...renamed.body, updatedAt: before.updatedAt }, { ...before, name: 'New' });
    const again = await call('PUT', flowPath(), { name: 'New' });
    assert.deepEqual([again.status, again.body], [200, renamed.body]);
    assert.deepEqual(await auditOf(management.acme.flowId), [
      { action: 'flow.edit', details: { name: 'New' } },
    ]);
  });

  it('change and go only under the ETag that If-Match names; it names the name and description', async () => {
    const send = (method: string, etag: string, body?: unknown) =>
      management.weir.call(method, flowPath(), {
        key: management.acme.token.owner,
        body,
        headers: { 'if-match': etag },
      });
    const before = (await call('GET', flowPath())).headers.get('etag') ?? '';
    const renamed = await send('PUT', before, { name: 'New' });
    const now = renamed.headers.get('etag');
    assert.equal(renamed.status, 200);
    for (const refused of [await send('PUT', before, { name: 'Other' }), await send('DELETE', before)]) {
      assert.deepEqual(code(refused), [412, 'PRECONDITION_FAILED']);
      assert.equal(refused.body.detail.etag, now);
    }
    await publishVersion(management.weir.db, management.acme.flowId, '');
    assert.equal((await call('GET', flowPath())).headers.get('etag'), now);
    assert.equal((await send('PUT', '*', { description: 'd' })).status, 200);
    assert.equal((await send('DELETE', '*')).status, 204);
  });

  it('are gone for everyone once deleted: nobody reads, edits, deletes or runs them', async () => {
    const { acme, weir } = management;
    const flow = await weir.createFlow(acme, []);
    const { body } = await call('GET', flows());
    const { id } = body.flows.find(({ slug }: { slug: string }) => slug === flow.split('/')[2]);
    assert.equal((await call('DELETE', `${flows()}/${id}`)).status, 204);
    const gone = [
      await call('GET', `${flows()}/${id}`),
      await call('PUT', `${flows()}/${id}`, { name: 'x' }),
      await call('DELETE', `${flows()}/${id}`),
      await call('GET', `${flows()}/${id}/draft`),
    ];
    for (const answer of gone) assert.deepEqual(code(answer), [404, 'NOT_FOUND']);
    const run = await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: '' } });
    assert.deepEqual(code(run), [404, 'FLOW_NOT_FOUND']);
    assert.deepEqual(await auditOf(id), [{ action: 'flow.delete', details: { slug: flow.split('/')[2] } }]);
  });
});

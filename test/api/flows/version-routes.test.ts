// Versions over HTTP: publish, list, compare, and choose the one in production.
import assert from 'node:assert/strict';
import { updateDraft } from '../../../db/flows/flows.ts';
import { publishVersion } from '../../../db/flows/versions.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import { code, useManagement } from '../organizations/management-harness.ts';

const block = (step_id: string, more: object = {}) => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'passthrough',
  ...more,
});

describe('versions over HTTP', () => {
  const { management } = useManagement();

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    management.weir.call(
      method,
      `/projects/${management.acme.projectId}/flows/${management.acme.flowId}${path}`,
      { key: management.acme.token.member, body, headers },
    );
  const setDraft = (...steps: object[]) =>
    updateDraft(management.weir.db, management.acme.flowId, { steps } as FlowDefinition);
  const actions = async () => {
    const entries = await management.weir.db
      .selectFrom('audit_entry')
      .select(['action', 'details'])
      .where('resource_id', '=', management.acme.flowId)
      .orderBy('id')
      .execute();
    return entries.map(({ action, details }) => ({ action, details }));
  };

  it('are the draft as it was, with a note, and stay as they are', async () => {
    await setDraft(block('a'));
    const { status, body } = await send('POST', '/versions', { note: 'Adds a' });
    assert.equal(status, 201);
    const { publishedAt, notes, ...rest } = body;
    assert.deepEqual(notes, []);
    assert.ok(Date.parse(publishedAt) > 0);
    const publishedBy = management.acme.users.member;
    assert.deepEqual(rest, {
      version: 2,
      note: 'Adds a',
      isProduction: false,
      publishedBy,
      steps: [block('a')],
    });
    await setDraft(block('b'));
    assert.deepEqual((await send('GET', '/versions/2')).body, { ...rest, publishedAt });
    assert.deepEqual((await send('GET', '/versions/1')).body.steps, []);
    assert.deepEqual(await actions(), [{ action: 'flow.publish', details: { version: 2, note: 'Adds a' } }]);
  });

  it('are published with If-Match only while the draft has that ETag', async () => {
    const etag = (await send('GET', '/draft')).headers.get('etag') ?? '';
    await setDraft(block('a'));
    const refused = await send('POST', '/versions', {}, { 'if-match': etag });
    assert.deepEqual(code(refused), [412, 'PRECONDITION_FAILED']);
    const now = refused.body.detail.etag;
    assert.equal((await send('POST', '/versions', {}, { 'if-match': now })).status, 201);
    assert.equal((await send('GET', '/versions')).body.versions.length, 2);
  });

  it('are published once: a draft that is the latest version is answered with it and its first note', async () => {
    await setDraft(block('a'));
    const answers = await Promise.all(
      ['1', '2', '3', '4', '5', '6'].map((note) => send('POST', '/versions', { note })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201]);
    const { body } = answers.find(({ status }) => status === 201) as { body: object };
    for (const answer of answers) assert.deepEqual(answer.body, body);
    assert.equal((await send('GET', '/versions')).body.versions.length, 2);
    assert.deepEqual((await actions()).length, 1);
    await setDraft(block('b'));
    assert.equal((await send('POST', '/versions', {})).body.version, 3);
    await setDraft(block('a'));
    assert.equal(
      (await send('POST', '/versions', {})).body.version,
      4,
      'an earlier version is no latest one',
    );
  });

  it('are not made of a draft that is not complete: the answer says what is missing', async () => {
    await setDraft(block('a', { processor_type: 'llm', prompt: 'Hi' }));
    const { status, body } = await send('POST', '/versions', { note: '' });
    assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE']);
    assert.equal(body.detail.problems[0].path, 'steps[0].model');
    assert.deepEqual(await actions(), []);
  });

  it('are listed in pages, newest first', async () => {
    for (const note of ['2', '3', '4', '5'])
      await publishVersion(management.weir.db, management.acme.flowId, note);
    const versions: number[] = [];
    let query: string | null = '';
    while (query !== null) {
      const { status, body } = await send('GET', `/versions?limit=2${query}`);
      assert.equal(status, 200);
      versions.push(...body.versions.map(({ version }: { version: number }) => version));
      query = body.hasMore ? `&cursor=${body.nextCursor}` : null;
    }
    assert.deepEqual(versions, [5, 4, 3, 2, 1]);
    for (const cursor of ['0', 'x', '-1', '9'.repeat(20)])
      assert.equal((await send('GET', `/versions?cursor=${cursor}`)).status, 422, cursor);
  });

  it('are put into production and rolled back by the same call, recorded when it changes something', async () => {
    await publishVersion(management.weir.db, management.acme.flowId, '2');
    const set = async (version: number) => (await send('PUT', '/production', { version })).body;
    assert.deepEqual(await set(2), { version: 2, previousVersion: null });
    assert.deepEqual(await set(1), { version: 1, previousVersion: 2 });
    assert.deepEqual(await set(1), { version: 1, previousVersion: 1 });
    const { versions } = (await send('GET', '/versions')).body;
    assert.deepEqual(
      versions.map(({ isProduction }: { isProduction: boolean }) => isProduction),
      [false, true],
    );
    assert.deepEqual(await actions(), [
      { action: 'flow.set_production', details: { version: 2 } },
      { action: 'flow.set_production', details: { version: 1 } },
    ]);
  });

  it('that do not exist are 404, and what cannot be a version is never 500', async () => {
    for (const version of ['2', '0', '01', '-1', 'x', '1.0', '9'.repeat(30)])
      assert.deepEqual(code(await send('GET', `/versions/${version}`)), [404, 'NOT_FOUND'], version);
    assert.deepEqual(code(await send('PUT', '/production', { version: 2 })), [404, 'NOT_FOUND']);
    for (const version of [0, 1.5, '1', 2 ** 31, null])
      assert.equal((await send('PUT', '/production', { version })).status, 422, String(version));
    assert.deepEqual(code(await send('GET', '/difference?from=2&to=draft')), [404, 'NOT_FOUND']);
    for (const query of ['', '?from=1', '?from=0&to=1', '?from=1&to=x', '?from=1&to=draft&more=1'])
      assert.equal((await send('GET', `/difference${query}`)).status, 422, query);
  });

  it('are compared with each other and with the draft, field by field', async () => {
    await setDraft(block('a'), block('b', { prompt: 'x' }));
    await publishVersion(management.weir.db, management.acme.flowId, '2');
    await setDraft(block('b', { prompt: 'y' }));
    const changes = async (from: string, to: string) =>
      (await send('GET', `/difference?from=${from}&to=${to}`)).body.changes;
    const { step_id: _, ...removed } = block('a');
    assert.deepEqual(await changes('2', 'draft'), [
      { step_id: null, field: 'steps', from: ['a', 'b'], to: ['b'] },
      { step_id: 'b', field: 'prompt', from: 'x', to: 'y' },
      { step_id: 'a', field: '', from: removed },
    ]);
    assert.deepEqual(await changes('draft', 'draft'), []);
    assert.equal((await changes('1', '2')).length, 3);
  });
});

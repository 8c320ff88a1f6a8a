// Test cases and their runs over HTTP; who may what is in test/api/app.test.ts.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { updateDraft } from '../../../db/flows/flows.ts';
import type { FlowDefinition } from '../../../flow/definition.ts';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';
import { code } from '../organizations/management-harness.ts';

const CASE = { name: 'new', message: 'hello', expectation: { type: 'equals', value: 'hello' } };

describe('test cases over HTTP', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
  });
  beforeEach(async () => {
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
  });

  const flowPath = () => `/projects/${acme.projectId}/flows/${acme.flowId}`;
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    weir.call(method, `${flowPath()}${path}`, { key: acme.token.member, body, headers });
  const actionsOn = async (resourceId: string) => {
    const entries = await weir.db
      .selectFrom('audit_entry')
      .select('action')
      .where('resource_id', '=', resourceId)
      .orderBy('id')
      .execute();
    return entries.map(({ action }) => action);
  };
  /** The test run, once all its cases have ended. */
  const ended = (id: string) =>
    waitUntil(async () => {
      const { body } = await send('GET', `/test-runs/${id}`);
      return body.status !== 'started' && body;
    });

  it('are created, replaced by name, read, replaced by id and deleted', async () => {
    const created = await send('POST', '/test-cases', CASE);
    assert.equal(created.status, 201);
    const { test_case_id: id, created_at, updated_at, ...rest } = created.body;
    assert.deepEqual(rest, { ...CASE, parameters: {} });
    assert.equal(created_at, updated_at);
    const again = await send('POST', '/test-cases', { ...CASE, parameters: { a: 1 } });
    assert.deepEqual([again.status, again.body.test_case_id, again.body.parameters], [200, id, { a: 1 }]);
    assert.deepEqual((await send('GET', `/test-cases/${id}`)).body, again.body);
    const renamed = await send('PUT', `/test-cases/${id}`, { ...CASE, name: 'renamed' });
    assert.deepEqual([renamed.status, renamed.body.name, renamed.body.parameters], [200, 'renamed', {}]);
    assert.equal((await send('DELETE', `/test-cases/${id}`)).status, 204);
    assert.deepEqual(code(await send('GET', `/test-cases/${id}`)), [404, 'NOT_FOUND']);
    assert.deepEqual(code(await send('DELETE', `/test-cases/${id}`)), [404, 'NOT_FOUND']);
    assert.deepEqual(await actionsOn(id), [
      'test_case.create',
      'test_case.replace',
      'test_case.replace',
      'test_case.delete',
    ]);
  });

  it('are replaced, deleted and created only as a precondition says, and unconditionally without one', async () => {
    const created = await send('POST', '/test-cases', CASE, { 'if-none-match': '*' });
    assert.equal(created.status, 201);
    const before = created.headers.get('etag') ?? '';
    const path = `/test-cases/${created.body.test_case_id}`;
    assert.equal((await send('GET', path)).headers.get('etag'), before);
    const edited = await send('PUT', path, { ...CASE, message: 'edited' }, { 'if-match': before });
    const now = edited.headers.get('etag') ?? '';
    assert.equal(edited.status, 200);
    assert.notEqual(now, before);
    for (const refused of [
      await send('PUT', path, CASE, { 'if-match': before }),
      await send('DELETE', path, undefined, { 'if-match': before }),
      await send('POST', '/test-cases', CASE, { 'if-none-match': '*' }),
    ]) {
      assert.deepEqual(code(refused), [412, 'PRECONDITION_FAILED']);
      assert.equal(refused.body.detail.etag, now);
    }
    const taken = await send('POST', '/test-cases', CASE, { 'if-none-match': '*' });
    assert.match(taken.body.detail.message, /^The flow has a test case of this name/);
    assert.equal((await send('GET', path)).body.message, 'edited');
    const back = await send('PUT', path, CASE);
    assert.deepEqual([back.status, back.headers.get('etag')], [200, before]);
    assert.equal((await send('DELETE', path, undefined, { 'if-match': before })).status, 204);
  });

  it('do not take the name of another case', async () => {
    const { body } = await send('POST', '/test-cases', CASE);
    const taken = await send('PUT', `/test-cases/${body.test_case_id}`, { ...CASE, name: 'case' });
    assert.deepEqual(code(taken), [409, 'CONFLICT']);
    assert.deepEqual((await send('GET', `/test-cases/${body.test_case_id}`)).body, body);
  });

  it('are listed by name in pages', async () => {
    for (const name of ['b', 'a', 'ä & ö'])
      assert.equal((await send('POST', '/test-cases', { ...CASE, name })).status, 201);
    const names: string[] = [];
    let query: string | null = '';
    while (query !== null) {
      const { status, body } = await send('GET', `/test-cases?limit=1${query}`);
      assert.equal(status, 200);
      names.push(...body.test_cases.map(({ name }: { name: string }) => name));
      query = body.hasMore ? `&cursor=${encodeURIComponent(body.nextCursor)}` : null;
    }
    assert.deepEqual([...names].sort(), ['a', 'b', 'case', 'ä & ö'].sort());
    assert.equal((await send('GET', '/test-cases?cursor=%00')).status, 422);
  });

  it('refuse what cannot be a test case', async () => {
    const { testCaseId } = acme;
    for (const body of [
      {},
      { ...CASE, name: '' },
      { ...CASE, name: 'a\0b' },
      { ...CASE, expectation: { type: 'equal', value: 1 } },
      { ...CASE, expectation: { type: 'json_schema', schema: { type: 'nothing' } } },
      { ...CASE, expectation: { type: 'judge', criteria: 'good', model: 'unknown/model' } },
      { ...CASE, flow_id: acme.flowId },
      { ...CASE, message: 'x'.repeat(500_000) },
    ])
      for (const answer of [
        await send('POST', '/test-cases', body),
        await send('PUT', `/test-cases/${testCaseId}`, body),
      ])
        assert.equal(answer.status, 422, JSON.stringify(answer.body));
  });

  it('run on the draft, one or all of them, and tell how they went', async () => {
    const wrong = await send('POST', '/test-cases', { ...CASE, message: 'other' });
    const all = await send('POST', '/test-runs', {});
    assert.deepEqual([all.status, all.body.total], [202, 2]);
    const both = await ended(all.body.test_run_id);
    assert.deepEqual([both.status, both.passed, both.failed, both.errors], ['completed', 1, 1, 0]);
    const one = await send('POST', '/test-runs', { test_case_id: wrong.body.test_case_id });
    assert.deepEqual([one.status, one.body.total], [202, 1]);
    const result = await ended(one.body.test_run_id);
    assert.deepEqual([result.failed, result.results[0].answer], [1, 'other']);
    assert.deepEqual(await actionsOn(one.body.test_run_id), ['test_run.start']);
  });

  it('do not run without a case, or on a draft that is not complete', async () => {
    const step = { type: 'sequential', step_id: 'a', name: 'a', processor_type: 'llm' };
    await updateDraft(weir.db, acme.flowId, { steps: [step] } as FlowDefinition);
    const { status, body } = await send('POST', '/test-runs', {});
    assert.deepEqual([status, body.detail.code], [400, 'INVALID_TREE']);
    assert.ok(body.detail.problems.length > 0);
    await send('DELETE', `/test-cases/${acme.testCaseId}`);
    assert.deepEqual(code(await send('POST', '/test-runs', {})), [409, 'CONFLICT']);
    for (const test_case_id of [acme.testCaseId, randomUUID()])
      assert.deepEqual(code(await send('POST', '/test-runs', { test_case_id })), [404, 'NOT_FOUND']);
    assert.equal((await send('POST', '/test-runs', { test_case_id: 'x' })).status, 422);
  });

  it('have runs that only members see: foreign ones are the same 404 as unknown ones', async () => {
    const other = await createOrganization(weir, provider);
    const { body } = await send('POST', '/test-runs', {});
    await ended(body.test_run_id);
    const read = (flow: Organization, id: string, key: string) =>
      weir.call('GET', `/projects/${flow.projectId}/flows/${flow.flowId}/test-runs/${id}`, { key });
    for (const role of ['member', 'admin', 'owner'] as const)
      assert.equal((await read(acme, body.test_run_id, acme.token[role])).status, 200);
    const unknown = await read(other, randomUUID(), other.token.owner);
    assert.deepEqual(code(unknown), [404, 'NOT_FOUND']);
    assert.deepEqual((await read(other, body.test_run_id, other.token.owner)).body, unknown.body);
    assert.deepEqual((await read(other, 'x', other.token.owner)).body, unknown.body);
    assert.deepEqual(code(await read(acme, body.test_run_id, other.token.owner)), [404, 'NOT_FOUND']);
    assert.deepEqual(code(await read(acme, body.test_run_id, acme.key)), [403, 'FORBIDDEN']);
    assert.equal((await read(acme, body.test_run_id, 'x.y.z')).status, 401);
  });
});

import assert from 'node:assert/strict';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('runs of a project and of an organization', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  let flows: string[];
  /** Newest first. */
  let runs: string[];
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
    acme = await createOrganization(weir, provider);
    flows = [await weir.createFlow(acme, []), await weir.createFlow(acme, [])];
    runs = [];
    for (const flow of [...flows, ...flows]) runs.unshift(await execute(flow, acme.key));
  });
  after(async () => {
    await weir.stop();
  });

  const execute = async (flow: string, key: string): Promise<string> =>
    (await weir.call('POST', `${flow}/execute`, { key, body: { message: '' } })).body.executionId;
  const list = (query = '', path = `/projects/${acme.projectId}`, headers = {}) =>
    weir.call('GET', `${path}/runs${query}`, { key: acme.token.member, headers });
  const ids = async (query = '', path?: string): Promise<string[]> =>
    (await list(query, path)).body.runs.map((run: { executionId: string }) => run.executionId);
  const slugOf = (flow = '') => flow.split('/')[2];

  it('are listed with the slugs of their flows, else as in the list of a flow, without blockCount', async () => {
    const [flow = ''] = flows;
    const [organization, project, slug] = flow.split('/');
    const { body } = await list(`?flow=${slug}`);
    const ofFlow = await weir.call('GET', `${flow}/runs`, { key: acme.key });
    assert.deepEqual(
      body.runs,
      ofFlow.body.runs.map(({ blockCount: _, ...run }: { blockCount: number }) => ({
        ...run,
        ...{ organization, project, flow: slug },
      })),
    );
    assert.equal(body.runs.length, 2);
    assert.equal(body.runs[0].keyId, acme.keyId);
  });

  it('can be filtered, in a project and in an organization', async () => {
    const byUser = await weir.call('POST', `${flows[0]}/jobs`, {
      key: acme.token.owner,
      body: { message: '' },
    });
    await weir.finish(flows[0] as string, byUser.body.executionId, acme.key);
    const all = [byUser.body.executionId, ...runs];
    const ofFirst = [byUser.body.executionId, runs[1], runs[3]];
    const organization = `/organizations/${acme.organizationId}`;
    for (const path of [undefined, organization])
      for (const [query, expected] of [
        ['', all],
        [`?flow=${slugOf(flows[0])}`, ofFirst],
        ['?flow=unknown', []],
        [`?key=${acme.keyId}`, runs],
        ['?mode=jobs', [byUser.body.executionId]],
        ['?status=failed', []],
        ['?status=completed&version=1', all],
        [`?id=${runs[2]?.slice(0, 24)}`, [runs[2]]],
        ['?until=2020-01-01', []],
        [`?limit=2&cursor=${runs[0]}`, [runs[1], runs[2]]],
      ] as const)
        assert.deepEqual(await ids(query, path), expected, `${path} ${query}`);
    assert.deepEqual(await ids('?project=project', organization), all);
    assert.deepEqual(await ids('?project=other', organization), []);
    assert.equal((await list('?project=project')).status, 422);
  });

  it('do not hold the runs of other organizations, nor of deleted flows', async () => {
    const other = await createOrganization(weir, provider);
    const flow = await weir.createFlow(other, []);
    const executionId = await execute(flow, other.key);
    const before = await ids();
    assert.ok(!before.includes(executionId));
    assert.equal((await list(`?cursor=${executionId}`)).status, 422);
    assert.deepEqual(await ids(`?id=${executionId}`), []);
    const deleted = await weir.createFlow(acme, []);
    const ofDeleted = await execute(deleted, acme.key);
    assert.deepEqual(await ids(), [ofDeleted, ...before]);
    await weir.db
      .updateTable('flow')
      .set({ deleted_at: new Date() })
      .where('slug', '=', slugOf(deleted) as string)
      .execute();
    for (const query of ['', '?mode=execute', `?id=${ofDeleted}`])
      assert.ok(!(await ids(query)).includes(ofDeleted), query);
  });

  it('answers 304 to the ETag of the list until it changes', async () => {
    const [flow = ''] = flows;
    const first = await list();
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    assert.equal((await list('', undefined, headers)).status, 304);
    await execute(flow, acme.key);
    const changed = await list('', undefined, headers);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get('etag'), headers['if-none-match']);
    const ofFlow = (more = {}) => weir.call('GET', `${flow}/runs`, { key: acme.key, headers: more });
    const { headers: found } = await ofFlow();
    assert.equal((await ofFlow({ 'if-none-match': found.get('etag') ?? '' })).status, 304);
  });
});

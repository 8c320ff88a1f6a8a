import assert from 'node:assert/strict';
import { passthrough } from '../../blocks.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { readMessages } from '../../sse.ts';

describe('a flow without a production version', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let executionId: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [passthrough('a')]);
    ({ executionId } = (await call('POST', 'execute', { message: 'm' })).body);
    await weir.db.updateTable('flow').set({ production_version: null }).execute();
  });
  after(() => weir.stop());
  const call = (method: string, path: string, body?: object) =>
    weir.call(method, `${flow}/${path}`, { key: tenant.key, body });

  it('is not run without a version', async () => {
    const { status, body } = await call('POST', 'execute', { message: 'm' });
    assert.deepEqual([status, body.detail.code], [404, 'FLOW_NOT_FOUND']);
    assert.match(body.detail.message, /no production version/);
  });

  it('is not run in a version that is not published, which the error does not blame on production', async () => {
    const { status, body } = await call('POST', 'v9/execute', { message: 'm' });
    assert.deepEqual([status, body.detail.code], [404, 'FLOW_NOT_FOUND']);
    assert.match(body.detail.message, /no published version with this number\.$/);
  });

  it('has runs that are read, forked and cancelled', async () => {
    const path = `jobs/${executionId}`;
    for (const read of [path, `v1/${path}`]) assert.equal((await call('GET', read)).body.result, 'm');
    assert.equal((await call('GET', `${path}/fork?step=0`)).body.version, 1);
    assert.equal((await call('POST', `${path}/cancel`)).status, 200);
    const response = await fetch(`${weir.url}/api/v1/seq/${flow}/${path}/events`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });
    const names: string[] = [];
    for await (const { event } of readMessages(response)) names.push(event);
    assert.deepEqual([names[0], names.at(-1)], ['run_started', 'run_completed']);
  });

  it('has runs that are listed', async () => {
    const { status, body } = await call('GET', 'runs');
    assert.deepEqual([status, body.runs.length], [200, 1]);
  });

  it('has no version 2, nor one with leading zeros', async () => {
    for (const version of ['v2', 'v01', 'v001', 'v1.0'])
      for (const [method, path] of [
        ['GET', `jobs/${executionId}`],
        ['POST', 'execute'],
      ] as const) {
        const { status } = await call(
          method,
          `${version}/${path}`,
          method === 'POST' ? { message: 'm' } : undefined,
        );
        assert.equal(status, 404, `${version}/${path}`);
      }
  });
});

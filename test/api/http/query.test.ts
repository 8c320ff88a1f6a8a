import assert from 'node:assert/strict';
import { apiRoutes } from '../../../api/app.ts';
import { handlersOf, takesNoQuery } from '../../../api/http/query.ts';
import type { Tenant, Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';

describe('query parameters', () => {
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    weir = await getSharedWeir();
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, []);
  });
  after(() => weir.stop());

  it('are read or refused at every endpoint but those for MCP and Temporal', () => {
    const others = apiRoutes(weir as never).filter(
      (route) =>
        !handlersOf(route).some(
          ({ name }) => name === 'readQuery' || (name === 'readCallOptions' && !takesNoQuery(route)),
        ),
    );
    assert.deepEqual(
      others.map(({ path }) => path.split('/')[3]),
      ['codec', 'codec', 'mcp', 'mcp'],
    );
  });

  it('that are unknown are 422 where none is taken, and nothing is run', async () => {
    const secret = `/organizations/${tenant.organizationId}/webhooks/secret`;
    const requests = [
      ['POST', `${flow}/jobs`, { message: 'm' }],
      ['POST', `${flow}/execute`, { message: 'm' }],
      ['POST', `${flow}/step`, { message: 'm', stepIndex: 0 }],
      ['GET', '/me', undefined],
      ['GET', secret, undefined],
    ] as const;
    for (const [method, path, body] of requests) {
      const refused = await weir.call(method, `${path}?recipt=false`, { key: tenant.key, body });
      const { code, errors } = refused.body.detail;
      assert.deepEqual([refused.status, code, errors[0].field], [422, 'VALIDATION_ERROR', 'recipt'], path);
    }
    const runs = weir.db.selectFrom('run').where('organization_id', '=', tenant.organizationId);
    assert.deepEqual(await runs.select('execution_id').execute(), []);
  });
});

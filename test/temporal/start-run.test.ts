import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { SLUG_MAX_LENGTH } from '../../flow/limits.ts';
import { passthrough } from '../blocks.ts';
import { startWeir, type Weir } from '../harness.ts';

describe('the start of a run', () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir();
  });
  after(() => weir.stop());

  it('works for an organization with the longest slug, whether its caller waits or not', async () => {
    const tenant = await weir.createTenant();
    const organization = randomBytes(SLUG_MAX_LENGTH / 2)
      .toString('hex')
      .replace(/^./, 'a');
    await weir.db
      .updateTable('organization')
      .set({ slug: organization })
      .where('id', '=', tenant.organizationId)
      .execute();
    const flow = await weir.createFlow({ ...tenant, organization }, [passthrough('only')]);
    const options = { key: tenant.key, body: { message: 'm' } };
    assert.equal((await weir.call('POST', `${flow}/execute`, options)).status, 200);
    const { body } = await weir.call('POST', `${flow}/jobs`, options);
    const { body: ended } = await weir.finish(flow, body.executionId, tenant.key);
    assert.equal(ended.status, 'completed');
  });
});

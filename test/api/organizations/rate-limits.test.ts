import assert from 'node:assert/strict';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { code } from '../../blocks.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';

const MOST = 2;

describe('GET …/organizations/{org_id}/rate-limits', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    const limits = { WEIR_RUNS_UNDER_WAY_MAX: `${MOST}`, WEIR_RATE_LIMIT_PER_ORGANIZATION: '0' };
    // Without a worker, no run ends.
    weir = await startWeir({ env: { ...provider.env, ...limits }, worker: false });
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });

  const read = async () => {
    const path = `/organizations/${acme.organizationId}/rate-limits`;
    return (await weir.call('GET', path, { key: acme.token.member })).body;
  };

  it('tells the limits in force: the variable unless an operator has set another number, null for any number', async () => {
    const { perKey, ...limits } = await read();
    assert.ok(perKey > 0);
    assert.deepEqual(limits, { perOrganization: null, runsUnderWay: MOST });
    for (const [own, told] of [
      [5, 5],
      [0, null],
      [null, MOST],
    ] as const) {
      await updateRunsUnderWayMax(weir.db, acme.organizationId, own);
      assert.equal((await read()).runsUnderWay, told);
    }
  });

  it('tells the quota of runs that holds', async () => {
    const flow = await weir.createFlow(acme, [code('a', 'return 1')]);
    const start = async () =>
      (await weir.call('POST', `${flow}/jobs`, { key: acme.key, body: { message: 'm' } })).status;
    for (let runs = 0; runs < MOST; runs++) assert.equal(await start(), 202);
    assert.equal(await start(), 429);
    await updateRunsUnderWayMax(weir.db, acme.organizationId, MOST + 1);
    assert.deepEqual([await start(), await start()], [202, 429]);
    await updateRunsUnderWayMax(weir.db, acme.organizationId, 0);
    assert.equal(await start(), 202);
  });
});

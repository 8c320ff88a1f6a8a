import assert from 'node:assert/strict';
import { fail, useOperator } from '../cli-harness.ts';

describe('weir operator org set-quota', () => {
  const { cli, weir, succeed, succeedJson } = useOperator();
  const findQuota = async () => {
    const organization = cli.database.db.selectFrom('organization').select('runs_under_way_max');
    return (await organization.where('slug', '=', 'acme').executeTakeFirstOrThrow()).runs_under_way_max;
  };

  it('sets how many runs may be under way, takes that back, and is in the audit log when it changes something', async () => {
    assert.equal(await succeed('org', 'set-quota', 'acme', '500'), 'acme may have 500 runs under way.\n');
    assert.equal(await findQuota(), 500);
    assert.deepEqual(await succeedJson('org', 'set-quota', 'acme', '500'), {
      organization: 'acme',
      runsUnderWay: 500,
    });
    assert.match(await succeed('org', 'set-quota', 'acme', 'unlimited'), /any number of runs/);
    assert.equal(await findQuota(), 0);
    assert.match(await succeed('org', 'set-quota', 'acme', 'default'), /as WEIR_RUNS_UNDER_WAY_MAX says/);
    assert.equal(await findQuota(), null);
    const log = await succeedJson('audit-log', 'acme', '--action', 'organization.set_quota');
    assert.deepEqual(
      log.map(({ actor, details }: { actor: string; details: object }) => [actor, details]),
      [null, 0, 500].map((runsUnderWay) => ['operator', { runsUnderWay }]),
    );
  });

  it('refuses 0, and says what to write for any number, and how to stop an organization', async () => {
    for (const zero of ['0', '00']) {
      const said = await fail(2, weir('org', 'set-quota', 'acme', zero));
      assert.match(said, /Write unlimited for any number \(which 0 means in WEIR_RUNS_UNDER_WAY_MAX alone\)/);
      assert.match(said, /weir operator org suspend <slug>/);
    }
    assert.equal(await findQuota(), null);
  });

  it('refuses what is not a number of runs, and an organization that is not there', async () => {
    for (const runs of ['-1', '1.5', 'many', '1000001'])
      await fail(2, weir('org', 'set-quota', 'acme', '--', runs));
    assert.match(await fail(1, weir('org', 'set-quota', 'nobody', '5')), /no organization nobody/);
    assert.equal(await findQuota(), null);
  });
});

import assert from 'node:assert/strict';
import { fail, useOperator } from '../cli-harness.ts';

describe('weir operator org suspend and resume', () => {
  const { weir, succeed, succeedJson } = useOperator();
  const listed = async () => {
    const [{ suspendedAt, suspensionReason }] = await succeedJson('org', 'list');
    return { suspendedAt, suspensionReason };
  };
  const resumed = { suspendedAt: null, suspensionReason: null };
  const logged = async (action: string) =>
    (await succeedJson('audit-log', 'acme', '--action', action)).map(
      ({ actor, details }: { actor: string; details: object }) => [actor, details],
    );

  it('say what is so, show it in the list, and are in the audit log when they change something', async () => {
    assert.match(await succeed('org', 'resume', 'acme'), /^acme was not suspended/);
    const said = await succeed('org', 'suspend', 'acme', '--reason', ' runaway loop ');
    assert.match(said, /^acme has been suspended since .*Z: it can begin and continue no runs\.\n/);
    assert.match(said, /told the reason: runaway loop\n/);
    assert.match(
      said,
      /weir operator runs cancel --organization acme --status started\n.*weir operator org resume acme\n$/,
    );
    const { suspendedAt } = await listed();
    const suspended = { suspendedAt, suspensionReason: 'runaway loop' };
    assert.deepEqual(await listed(), suspended);
    assert.match(await succeed('org', 'list'), /acme .*Z: runaway loop\n$/);
    assert.deepEqual(await succeedJson('org', 'suspend', 'acme'), { organization: 'acme', ...suspended });
    const other = { suspendedAt, suspensionReason: 'unpaid' };
    assert.deepEqual(await succeedJson('org', 'suspend', 'acme', '--reason', 'unpaid'), {
      ...{ organization: 'acme', ...other },
    });
    assert.equal(await succeed('org', 'resume', 'acme'), 'acme can begin and continue runs again.\n');
    assert.deepEqual(await succeedJson('org', 'resume', 'acme'), { organization: 'acme', ...resumed });
    assert.deepEqual(await listed(), resumed);
    assert.deepEqual((await succeedJson('org', 'suspend', 'acme')).suspensionReason, null);
    assert.deepEqual(await logged('organization.suspend'), [
      ['operator', { reason: null }],
      ['operator', { reason: 'unpaid' }],
      ['operator', { reason: 'runaway loop' }],
    ]);
    assert.deepEqual(await logged('organization.resume'), [['operator', {}]]);
  });

  it('refuse an organization that is not there, and a reason that says nothing or too much', async () => {
    for (const command of ['suspend', 'resume'])
      assert.match(await fail(1, weir('org', command, 'nobody')), /no organization nobody/);
    for (const reason of [' ', 'x'.repeat(501)])
      assert.match(await fail(2, weir('org', 'suspend', 'acme', '--reason', reason)), /1 to 500 characters/);
  });
});

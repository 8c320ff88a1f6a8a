import assert from 'node:assert/strict';
import { finishRun } from '../../../db/runs/runs.ts';
import { openAccount } from '../../db/credits/ledger-fixture.ts';
import { useOperator } from '../cli-harness.ts';

describe('weir operator org list', () => {
  const { cli, succeed, succeedJson } = useOperator();

  it('has the id of each organization and the number of its runs in flight', async () => {
    const { db } = cli.database;
    const { organizationId, runs } = await openAccount(db, 100, 4);
    const [ended = ''] = runs;
    await finishRun(db, ended, { status: 'completed', result: { ref: 'ask' } });
    const listed: { id: string; slug: string; underWay: number }[] = await succeedJson('org', 'list');
    assert.equal(listed.find(({ id }) => id === organizationId)?.underWay, 3);
    assert.equal(listed.find(({ slug }) => slug === 'acme')?.underWay, 0);
    assert.match(await succeed('org', 'list'), new RegExp(`${organizationId} +[\\d.]+ +3 +-$`, 'm'));
  });
});

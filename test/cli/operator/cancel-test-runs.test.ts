import assert from 'node:assert/strict';
import { BEGUN, CASES, holdTestRun } from '../../api/test-cases/hold-test-run.ts';
import { startTestsWeir, type TestsWeir } from '../../api/test-cases/tests-harness.ts';
import { operatorRuns } from './list-stuck.ts';

describe('weir operator runs cancel, of test runs', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir({});
  });
  beforeEach(() => tests.models.forget());
  after(() => tests.stop());

  const cancel = async (...args: string[]) => {
    const { code, stdout, stderr } = await operatorRuns(tests.weir, 'cancel', ...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const startHeld = () => holdTestRun(tests);
  const loggedOf = async (id: string) => {
    const entries = tests.weir.db.selectFrom('audit_entry').select('action');
    const found = await entries.where('resource_id', '=', id).where('actor', '=', 'operator').execute();
    return found.map(({ action }) => action);
  };

  it('ends them with the runs of their cases, and has them begin no further case', async () => {
    const { id, running, before } = await startHeld();
    const { organization } = tests.tenant;
    const dry = await cancel('--organization', organization, '--dry-run');
    assert.deepEqual([dry.matchingTestRuns, dry.matching.length], [[id], BEGUN]);
    assert.equal((await cancel('--organization', organization, '--since', '2999-01-01')).cancelled.length, 0);
    const done = await cancel('--organization', organization, '--status', 'started');
    assert.deepEqual([done.cancelledTestRuns, done.cancelled.toSorted()], [[id], dry.matching.toSorted()]);
    const end = await running;
    assert.deepEqual([end.status, end.errors], ['cancelled', CASES]);
    assert.equal(tests.models.calls.length - before, BEGUN);
    assert.deepEqual(await loggedOf(id), ['test_run.cancel']);
  });

  it('leaves those of other organizations, and those that are not asked for by their status', async () => {
    const { id, running } = await startHeld();
    const other = await tests.weir.createTenant();
    for (const scope of [
      ['--organization', other.organization],
      ['--all', '--status', 'in_progress'],
    ])
      assert.deepEqual((await cancel(...scope)).cancelledTestRuns, []);
    assert.deepEqual((await cancel('--all')).cancelledTestRuns, [id]);
    assert.equal((await running).status, 'cancelled');
  });
});

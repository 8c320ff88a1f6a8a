import assert from 'node:assert/strict';
import { runAllTests } from '../../../api/test-runs/run-tests.ts';
import { startTestsWeir, type TestsWeir } from '../../api/test-runs/tests-harness.ts';
import { llm } from '../../blocks.ts';
import { hang } from '../../fakes/model-server.ts';
import { waitUntil } from '../../wait-until.ts';
import { operatorRuns } from './list-stuck.ts';

const CASES = 6;
/** As many as run at a time. */
const BEGUN = 4;

describe('weir operator runs cancel, of test runs', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  beforeEach(() => tests.models.forget());
  after(() => tests.stop());

  const cancel = async (...args: string[]) => {
    const { code, stdout, stderr } = await operatorRuns(tests.weir, 'cancel', ...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  /** A test run whose first cases have asked a model, which has not answered. */
  async function startHeld() {
    const flowId = await tests.draft([llm('a', 'x', 'demo/chat')]);
    for (let index = 0; index < CASES; index += 1)
      await tests.testCase(flowId, { type: 'contains', text: 'never' });
    tests.models.will(...Array.from({ length: CASES }, () => hang));
    const before = tests.models.calls.length;
    const running = runAllTests(tests.deps, tests.ada, flowId);
    running.catch(() => undefined);
    await waitUntil(() => tests.models.calls.length >= before + BEGUN);
    const { id } = await tests.weir.db
      .selectFrom('test_run')
      .select('id')
      .where('flow_id', '=', flowId)
      .executeTakeFirstOrThrow();
    return { id, running, asked: () => tests.models.calls.length - before };
  }
  const loggedOf = async (id: string) => {
    const entries = tests.weir.db.selectFrom('audit_entry').select('action');
    const found = await entries.where('resource_id', '=', id).where('actor', '=', 'operator').execute();
    return found.map(({ action }) => action);
  };

  it('ends them with the runs of their cases, and has them begin no further case', async () => {
    const { id, running, asked } = await startHeld();
    const { organization } = tests.tenant;
    const dry = await cancel('--organization', organization, '--dry-run');
    assert.deepEqual([dry.matchingTestRuns, dry.matching.length], [[id], BEGUN]);
    assert.equal((await cancel('--organization', organization, '--since', '2999-01-01')).cancelled.length, 0);
    const done = await cancel('--organization', organization, '--status', 'started');
    assert.deepEqual([done.cancelledTestRuns, done.cancelled.toSorted()], [[id], dry.matching.toSorted()]);
    const end = await running;
    assert.deepEqual([end.status, end.errors], ['cancelled', CASES]);
    assert.equal(asked(), BEGUN);
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

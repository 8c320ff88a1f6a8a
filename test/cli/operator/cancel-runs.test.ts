import assert from 'node:assert/strict';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { BEGUN, CASES, holdTestRun } from '../../api/test-cases/hold-test-run.ts';
import { startTestsWeir, type TestsWeir } from '../../api/test-cases/tests-harness.ts';
import { llm } from '../../blocks.ts';
import { fail, weirIn } from '../cli-harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

describe('weir runs cancel, of an operator', () => {
  let weir: JobsWeir;
  let operator: Operator;
  let flow: string;
  before(async () => {
    weir = await startJobsWeir();
    operator = await createOperator(weir);
    flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
  });
  after(() => weir.stop());

  const cancel = (...args: string[]) => operator.run('runs', 'cancel', ...args);

  it('cancels the runs of every project of an organization, and says first which', async () => {
    const ids = [(await weir.startHeld(flow)).executionId, (await weir.startHeld(flow)).executionId];
    const of = ['--organization', weir.tenant.organization];
    const dry = await operator.succeedJson('runs', 'cancel', ...of, '--dry-run');
    assert.deepEqual([dry.matching.toSorted(), dry.done], [ids.toSorted(), []]);
    const { done } = await operator.succeedJson('runs', 'cancel', ...of);
    assert.deepEqual(
      done.map(({ executionId }: { executionId: string }) => executionId).toSorted(),
      ids.toSorted(),
    );
    for (const id of ids) assert.equal((await weir.finish(flow, id, weir.tenant.key)).body.status, 'failed');
    const [entry] = await operator.succeedJson(
      'audit-log',
      weir.tenant.organization,
      '--action',
      'runs.cancel',
    );
    assert.deepEqual([entry.actor, entry.details.cancelled], [operator.actor, 2]);
  });

  it('cancels a run of any organization by its id, and shows it', async () => {
    const { executionId } = await weir.startHeld(flow);
    assert.match(await operator.succeed('runs', 'show', executionId), /^started, jobs, live/m);
    assert.match(await operator.succeed('runs', 'cancel', executionId), /^The run is being cancelled/);
    await weir.finish(flow, executionId, weir.tenant.key);
    assert.match(await operator.succeed('runs', 'cancel', executionId), /^The run has ended already/);
  });

  it('cancels more than ten runs of an organization only with --yes', async () => {
    const held: { executionId: string }[] = [];
    while (held.length < 11) held.push(await weir.startHeld(flow));
    const of = ['--organization', weir.tenant.organization];
    assert.match(
      await fail(2, cancel(...of)),
      /^Nothing was done: these are 11 runs\. Add --yes to cancel more than 10/,
    );
    for (const { executionId } of held)
      assert.equal((await weir.read(flow, executionId)).body.status, 'started');
    assert.match(await operator.succeed('runs', 'cancel', ...of, '--yes'), /^11 runs being cancelled\.$/m);
    for (const { executionId } of held) await weir.finish(flow, executionId, weir.tenant.key);
  });

  it('is told what is missing or wrong in its options', async () => {
    const id = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';
    assert.match(await fail(2, cancel()), /Give ids of runs, or --all/);
    assert.match(await fail(2, cancel('--all')), /Name the project/);
    assert.match(await fail(2, cancel('--all-organizations', '--flow', flow)), /Give one of --all-org/);
    assert.match(await fail(2, cancel(id, '--status', 'started')), /not both/);
    assert.match(await fail(1, cancel('--organization', 'nobody-here')), /nobody-here does not exist/);
  });

  it('leaves organizations of others to operators', async () => {
    const env = { WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_API_KEY: weir.tenant.key };
    const said = await fail(1, weirIn(env, ['runs', 'cancel', '--all-organizations']));
    assert.match(said, /not an API key/);
  });
});

describe('weir runs cancel, of an operator, with test runs', () => {
  let tests: TestsWeir;
  let operator: Operator;
  before(async () => {
    tests = await startTestsWeir({});
    operator = await createOperator(tests.weir);
  });
  beforeEach(() => tests.models.forget());
  after(() => tests.stop());

  const cancel = (...args: string[]) => operator.succeedJson('runs', 'cancel', ...args);
  const startHeld = () => holdTestRun(tests);
  const loggedOf = async (id: string) => {
    const entries = tests.weir.db.selectFrom('audit_entry').select('action');
    const found = await entries.where('resource_id', '=', id).where('actor', '=', operator.actor).execute();
    return found.map(({ action }) => action);
  };

  it('ends them with the runs of their cases, and has them begin no further case', async () => {
    const { id, running, before } = await startHeld();
    const of = ['--organization', tests.tenant.organization];
    const dry = await cancel(...of, '--dry-run');
    assert.deepEqual([dry.matchingTestRuns, dry.matching.length], [[id], BEGUN]);
    assert.deepEqual((await cancel(...of, '--since', '2999-01-01')).cancelledTestRuns, []);
    assert.deepEqual((await cancel(...of, '--status', 'started')).cancelledTestRuns, [id]);
    const end = await running;
    assert.deepEqual([end.status, end.errors], ['cancelled', CASES]);
    assert.equal(tests.models.calls.length - before, BEGUN);
    assert.deepEqual(await loggedOf(id), ['test_run.cancel']);
  });

  it('leaves those of other organizations, and those that are not asked for by their status', async () => {
    const { id, running } = await startHeld();
    const other = await tests.weir.createTenant();
    assert.deepEqual((await cancel('--organization', other.organization)).cancelledTestRuns, []);
    const waiting = await cancel('--organization', tests.tenant.organization, '--status', 'in_progress');
    assert.equal(waiting.cancelledTestRuns, undefined);
    assert.deepEqual((await cancel('--all-organizations')).cancelledTestRuns, [id]);
    assert.equal((await running).status, 'cancelled');
  });
});

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import { startTestsWeir, type TestsWeir } from '../../api/test-cases/tests-harness.ts';
import { code } from '../../blocks.ts';
import { answer } from '../../fakes/model-server.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const MESSAGE = 'm'.padEnd(100_000, 'x');

describeWithS3('a test case with a large message', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let tests: TestsWeir;
  before(async () => {
    server = await startS3Server();
    tests = await startTestsWeir({ ...server.env, WEIR_OBJECT_STORE_MIN_BYTES: '65536' });
  });
  after(async () => {
    await tests.stop();
    await server.stop();
  });

  it('is run and judged with inputs in the object store, and traced from there', async () => {
    const { deps, ada, models, weir } = tests;
    const flowId = await tests.draft([code('pass', 'return message;')]);
    const judge = { type: 'judge', criteria: 'c', model: 'demo/judge' };
    const id = await tests.testCase(flowId, judge, { message: MESSAGE });
    models.will(answer(JSON.stringify({ reason: 'because', passed: true })));
    const { results } = await runTestCase(deps, ada, id);
    const [result] = results;
    assert.equal(result?.status, 'passed', result?.why ?? '');
    assert.ok(JSON.stringify(models.calls.at(-1)?.body).includes(MESSAGE));
    const rows = await weir.db
      .selectFrom('run')
      .select(sql<boolean>`input is null`.as('elsewhere'))
      .where('flow_id', '=', flowId)
      .execute();
    assert.deepEqual(rows, [{ elsewhere: true }, { elsewhere: true }]);
    assert.equal((await server.keys('/request-')).length, 2);
    const { flow_run } = await traceRun(deps, ada.access, { flow_run_id: result?.flow_run_id ?? '' });
    assert.match(flow_run?.message ?? '', /^mxxx/);
  });
});

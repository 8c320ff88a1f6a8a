import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { cancelTestRun } from '../../../api/test-cases/cancel-test-run.ts';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import { PermitRejected } from '../../../platform/limits/fair-queue.ts';
import { REQUEST_BYTES_EACH, SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { code } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

describe('a test run of one case', () => {
  let tests: TestsWeir;
  before(async () => {
    tests = await startTestsWeir();
  });
  after(() => tests.stop());

  /** Runs a case whose answer has so many characters; returns the id of its test run. */
  async function runWithAnswer(chars: number): Promise<string> {
    const flowId = await tests.draft([code('a', `return "x".repeat(${chars});`)]);
    const id = await tests.testCase(flowId, { type: 'contains', text: 'x' });
    return (await runTestCase(tests.deps, tests.ada, id)).test_run_id;
  }

  const trace = (id: string) => traceRun(tests.deps, tests.ada.access, { flow_run_id: id });

  it('that was waited for is answered without its answer when the turn to read that does not come', async () => {
    const flowId = await tests.draft([code('a', `return "x".repeat(${2 * SMALL_BYTES});`)]);
    const id = await tests.testCase(flowId, { type: 'contains', text: 'x' });
    const refuse = mock.method(tests.weir.httpGates.answers, 'acquire', () =>
      Promise.reject(new PermitRejected('deadline', 'key', 1_000)),
    );
    const { status, passed, results } = await runTestCase(tests.deps, tests.ada, id).finally(() =>
      refuse.mock.restore(),
    );
    assert.deepEqual([status, passed, 'answer' in (results[0] ?? {})], ['completed', 1, false]);
  });

  it('answers a long answer cut, with a marker that tells its size', async () => {
    const { test_run } = await trace(await runWithAnswer(10_000));
    assert.match(String(test_run?.results[0]?.answer), /^"x{4095}… \[cut: 4096 of 10002 characters\]$/);
  });

  for (const [how, read] of [
    ['read', trace],
    ['cancelled', (id: string) => cancelTestRun(tests.deps, tests.ada, id)],
  ] as const)
    it(`that is ${how} waits for the turn of its organization to hold a large answer`, async () => {
      const [large, small] = [await runWithAnswer(2 * SMALL_BYTES), await runWithAnswer(1)];
      const { answers } = tests.weir.httpGates;
      const permit = await answers.acquire(tests.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
      const reading = read(large);
      await waitUntil(async () => answers.count().queued === 1);
      await read(small);
      permit.release();
      await reading;
      const again = await answers.acquire(tests.tenant.organizationId, { weight: REQUEST_BYTES_EACH });
      again.release();
    });
});

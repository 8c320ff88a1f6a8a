import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { traceRun } from '../../../api/mcp/trace-run.ts';
import { cancelTestRun } from '../../../api/test-cases/cancel-test-run.ts';
import { runTestCase } from '../../../api/test-cases/run-tests.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { REQUESTS_SHARE_BYTES } from '../../../platform/large-values/large-values.ts';
import { SMALL_BYTES } from '../../../platform/limits/byte-budget.ts';
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
    const refuse = mock.method(tests.weir.largeValues.answers, 'takeNow', () => {
      throw new ServiceError('RATE_LIMITED', 'try again');
    });
    const flowId = await tests.draft([code('a', 'return "x";')]);
    const id = await tests.testCase(flowId, { type: 'contains', text: 'x' });
    refuse.mock.mockImplementationOnce(() => () => undefined, refuse.mock.callCount());
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
      const { answers } = tests.weir.largeValues;
      const giveBack = await answers.take(tests.tenant.organizationId, REQUESTS_SHARE_BYTES);
      const reading = read(large);
      await waitUntil(async () => answers.countWaiting() === 1);
      await read(small);
      giveBack();
      await reading;
      const giveAgain = await answers.take(tests.tenant.organizationId, REQUESTS_SHARE_BYTES);
      giveAgain();
    });
});

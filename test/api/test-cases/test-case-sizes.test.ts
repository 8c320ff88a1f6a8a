// Test cases of a flow that are many bytes together.
import assert from 'node:assert/strict';
import {
  changeTestCase,
  createTestCase,
  deleteTestCase,
  describeTestCases,
} from '../../../api/test-cases/test-case.ts';
import { TEST_CASES_MAX_BYTES } from '../../../flow/test-case.ts';
import { REQUEST_BYTES_EACH, SMALL_BYTES } from '../../../platform/limits/gates.ts';
import { passthrough } from '../../blocks.ts';
import { waitUntil } from '../../wait-until.ts';
import { startTestsWeir, type TestsWeir } from './tests-harness.ts';

const EXPECTATION = { type: 'equals', value: 1 };
const TOO_LARGE = { code: 'CONFLICT', message: /8 MiB of JSON together/ };

describe('the test cases of a flow', () => {
  let tests: TestsWeir;
  let flowId: string;
  before(async () => {
    tests = await startTestsWeir();
  });
  beforeEach(async () => {
    flowId = await tests.draft([passthrough('a')]);
  });
  after(() => tests.stop());

  const input = (name: string, message: string) =>
    ({ flow_id: flowId, name, message, expectation: EXPECTATION }) as never;
  const save = (name: string, message: string) => createTestCase(tests.deps, tests.ada, input(name, message));
  /** Stores a case of so many bytes of JSON. */
  async function insert(name: string, bytes: number): Promise<string> {
    const expectation = JSON.stringify(EXPECTATION);
    const empty = JSON.stringify({ message: '', parameters: {} }).length + expectation.length;
    const message = 'x'.repeat(bytes - empty);
    const { id } = await tests.deps.db
      .insertInto('test_case')
      .values({ flow_id: flowId, name, input: JSON.stringify({ message, parameters: {} }), expectation })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  }

  it(`have at most ${TEST_CASES_MAX_BYTES} bytes of JSON together, with characters counted as UTF-8`, async () => {
    const others = await insert('others', TEST_CASES_MAX_BYTES - 1_000);
    const { test_case_id: id } = await save('a', 'x'.repeat(900));
    await assert.rejects(save('a', 'ä'.repeat(900)), TOO_LARGE);
    await assert.rejects(save('b', 'x'.repeat(900)), TOO_LARGE);
    const change = (message: string) => changeTestCase(tests.deps, tests.ada, id, input('a', message));
    await assert.rejects(change('x'.repeat(1_001)), TOO_LARGE);
    await deleteTestCase(tests.deps, tests.ada, others);
    await change('x'.repeat(1_001));
  });

  it('are listed with long values cut, in parts, each in the turn of its organization', async () => {
    const parameters = { text: `\u0000${'x'.repeat(10_000)}` };
    await tests.testCase(flowId, EXPECTATION, { name: 'small', message: 'm', parameters });
    await insert('large', SMALL_BYTES);
    const { organizationId } = tests.tenant;
    const { answers } = tests.weir.httpGates;
    const permit = await answers.acquire(organizationId, { weight: REQUEST_BYTES_EACH });
    const listing = describeTestCases(tests.deps, { flowId, organizationId });
    await waitUntil(async () => answers.count().queued === 1);
    permit.release();
    const [small, large] = await listing;
    assert.deepEqual([small?.name, small?.message, small?.expectation], ['small', 'm', EXPECTATION]);
    assert.match(String(small?.parameters), /^\{"text":"\\u0000x+… \[cut: 4096 of 10017 characters\]$/);
    assert.match(String(large?.message), /^x{4096}… \[cut: 4096 of \d+ characters\]$/);
  });
});

import assert from 'node:assert/strict';
import { isAnyPending, sumUpResults } from '../../../../console/flow/tests/last-results.ts';

type Case = Parameters<typeof sumUpResults>[0][number];

describe('the last results of test cases', () => {
  it('count all cases, not only those of the last test run, and only results on the draft', () => {
    const onVersion = result('passed', 3);
    if (onVersion.last_result) onVersion.last_result.version = 1;
    const cases = [result('failed', 1), result('passed', 2), { last_result: null }, onVersion];
    assert.deepEqual(sumUpResults(cases), {
      words: '1 of 4 passed, 2 not run on it',
      latest: at(2),
      haveAllPassed: false,
    });
    assert.equal(sumUpResults([result('passed', 1), result('passed', 2)])?.haveAllPassed, true);
    assert.equal(sumUpResults([{ last_result: null }]), undefined);
  });

  it('include the pending ones', () => {
    const cases = [result('passed', 1), result('pending', 2)];
    assert.equal(sumUpResults(cases)?.words, '1 of 2 passed, 1 running');
    assert.deepEqual([isAnyPending(cases), isAnyPending(cases.slice(0, 1))], [true, false]);
  });
});

function at(minute: number): string {
  return `2030-01-01T00:0${minute}:00.000Z`;
}

function result(status: 'passed' | 'failed' | 'pending', minute: number): Case {
  const rest = { test_run_id: 't', version: 0, flow_run_id: 'f', why: null, ms: null, cost: 0 };
  return { last_result: { ...rest, status, tested_at: at(minute) } };
}

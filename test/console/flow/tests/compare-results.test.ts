import assert from 'node:assert/strict';
import { compareResults, writeChange } from '../../../../console/flow/tests/compare-results.ts';
import { parseToolResults } from '../../../../console/flow/tests/test-case.ts';

const result = (id: string, status: 'passed' | 'failed') => ({
  ...{ test_case_id: id, name: id, status, why: null, flow_run_id: 'r', judge_run_id: null, ms: 1, cost: 0 },
});

describe('the comparison of two test runs', () => {
  it('has each case once, with those whose verdict has changed first', () => {
    const before = [result('same', 'passed'), result('broken', 'passed'), result('gone', 'failed')];
    const after = [result('same', 'passed'), result('broken', 'failed'), result('new', 'passed')];
    assert.deepEqual(
      compareResults(before, after).map((one) => [
        one.name,
        one.before?.status,
        one.after?.status,
        one.isChanged,
      ]),
      [
        ['broken', 'passed', 'failed', true],
        ['new', undefined, 'passed', true],
        ['gone', 'failed', undefined, true],
        ['same', 'passed', 'passed', false],
      ],
    );
  });

  it('writes differences with their sign', () => {
    const write = (value: number) => `${value} ms`;
    assert.deepEqual(
      [
        writeChange(1, 3, write),
        writeChange(3, 1, write),
        writeChange(2, 2, write),
        writeChange(null, 2, write),
      ],
      ['+2 ms', '−2 ms', '±0', ''],
    );
  });
});

describe('the results of tools in the form', () => {
  it('are a list of names and JSON values, or absent', () => {
    assert.deepEqual(parseToolResults(' '), {});
    assert.deepEqual(parseToolResults('[{"name": "a", "result": {"b": 1}}]'), {
      results: [{ name: 'a', result: { b: 1 } }],
    });
    for (const text of ['{', '{}', '[1]', '[{"name": "a"}]', '[{"result": 1}]'])
      assert.match(parseToolResults(text).error ?? '', /^Must be /, text);
  });
});

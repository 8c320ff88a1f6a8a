import assert from 'node:assert/strict';
import { formatJUnit } from '../../../cli/flows/test-flows.ts';

describe('formatJUnit', () => {
  it('writes results as XML, whatever text they hold', () => {
    const result = { flow_run_id: 'r', ms: 1_500, cost: 0, why: null };
    const results = [
      { ...result, name: 'a "b" & <c>', status: 'passed' as const },
      { ...result, name: 'd', status: 'error' as const, why: 'line\n\u0000\ud800', ms: null },
      { ...result, name: 'e', status: 'pending' as const },
    ];
    const testRun = { test_run_id: 't', status: 'cancelled', total: 3, passed: 1, cost: 0, results };
    const xml = formatJUnit([
      { flow: 'a/b/c', testRun },
      { flow: 'a/b/none', testRun: null },
      { flow: 'a/b/d', testRun: null, error: 'Away.' },
    ]);
    assert.deepEqual(xml.split('\n'), [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites>',
      '  <testsuite name="a/b/c" tests="3" failures="0" errors="1" skipped="1">',
      '    <testcase classname="a/b/c" name="a &#34;b&#34; &#38; &#60;c&#62;" time="1.5"/>',
      '    <testcase classname="a/b/c" name="d"><error message="line&#10;\ufffd\ufffd"/></testcase>',
      '    <testcase classname="a/b/c" name="e" time="1.5"><skipped message=""/></testcase>',
      '  </testsuite>',
      '  <testsuite name="a/b/d" tests="1" failures="0" errors="1" skipped="0">',
      '    <testcase classname="a/b/d" name="all test cases"><error message="Away."/></testcase>',
      '  </testsuite>',
      '</testsuites>',
      '',
    ]);
  });
});

import assert from 'node:assert/strict';
import { describeChanges, findFlowChanges, findTestChanges } from '../../../cli/flows/flow-content.ts';
import type { SequentialStep } from '../../../flow/definition.ts';

const code = (step_id: string, prompt: string): SequentialStep => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'code',
  prompt,
});
const flow = (...steps: SequentialStep[]) => ({ name: 'F', slug: 'f', steps });
const changesOf = (from: string, to: string) =>
  describeChanges(findFlowChanges(flow(code('s', from)), flow(code('s', to)))).split('\n');

describe('describeChanges', () => {
  it('shows of a text with lines those that go and come, also when they only come, or only go', () => {
    assert.deepEqual(changesOf('a\nb\nc', 'a\nx\nc'), ['  s.prompt:', '    - b', '    + x']);
    assert.deepEqual(changesOf('a\nc', 'a\na\nc'), ['  s.prompt:', '    + a']);
    assert.deepEqual(changesOf('a\na\nc', 'a\nc'), ['  s.prompt:', '    - a']);
    assert.deepEqual(changesOf('a\n', 'b'), ['  s.prompt:', '    - a', '    - ', '    + b']);
  });

  it('bounds long texts and values, and shows no control characters', () => {
    const many = changesOf('a\n', `${'x\n'.repeat(100)}`);
    assert.ok(many.length < 50, `${many.length} lines`);
    assert.match(many.at(-1) ?? '', /\+ … and \d+ more lines/);
    assert.ok((changesOf('a', 'y'.repeat(9_999))[0] ?? '').length < 200);
    assert.deepEqual(changesOf('a\nb', 'a\n\u001b[31mb'), ['  s.prompt:', '    - b', '    + \ufffd[31mb']);
  });

  it('names steps and test cases that were added and removed', () => {
    const added = describeChanges(findFlowChanges(flow(), flow(code('s', 'a'))));
    assert.match(added, /^ {2}steps: \[\] → \["s"\]\n {2}\+ s: \{.*"prompt":"a"/);
    assert.match(describeChanges(findFlowChanges(flow(code('s', 'a')), flow())), /^ {2}- s: \{/m);
    const test = { name: 't', message: 'm', expectation: { type: 'contains', text: 'x' } };
    assert.match(describeChanges(findTestChanges([], [test])), /^ {2}\+ test "t": \{/);
    assert.match(describeChanges(findTestChanges([test], [])), /^ {2}- test "t": \{/);
  });
});

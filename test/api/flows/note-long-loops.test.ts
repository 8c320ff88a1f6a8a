import assert from 'node:assert/strict';
import { noteLongLoops } from '../../../api/flows/draft-notes.ts';
import type { LoopStep, Step } from '../../../flow/definition.ts';
import { passthrough } from '../../blocks.ts';

const loop = (stepId: string, body: Step[], max_iterations: number): LoopStep => ({
  type: 'loop',
  step_id: stepId,
  name: stepId,
  body,
  max_iterations,
});

describe('noteLongLoops', () => {
  it('names a loop that may execute more blocks than a run, and how many iterations fit', () => {
    const three = [passthrough('a'), passthrough('b'), passthrough('c')];
    const nested = loop('rows', [loop('cells', [passthrough('d')], 100)], 50);
    const parallel: Step = { type: 'parallel', step_id: 'p', name: 'p', branches: { one: [nested] } };
    assert.deepEqual(noteLongLoops({ steps: [loop('each', three, 1_000), parallel] }), [
      {
        path: ['steps', 0, 'max_iterations'],
        message:
          'The loop may run 1000 iterations of 3 blocks. A run executes at most 2000 blocks, so it would fail with more than 666 iterations.',
      },
      {
        path: ['steps', 1, 'branches', 'one', 0, 'max_iterations'],
        message:
          'The loop may run 50 iterations of 100 blocks. A run executes at most 2000 blocks, so it would fail with more than 20 iterations.',
      },
    ]);
  });

  it('names the flow where only all of its loops together may execute too many', () => {
    const each = (id: string) => loop(id, [passthrough(`${id}-block`)], 1_000);
    assert.deepEqual(noteLongLoops({ steps: [each('a'), each('b'), each('c')] }), [
      {
        path: ['steps'],
        message:
          'With all iterations of its loops, the flow has 3000 block executions. A run executes at most 2000, and would fail with more.',
      },
    ]);
  });

  it('names no loop that fits', () => {
    const two = [loop('a', [passthrough('b')], 1_000), loop('c', [passthrough('d')], 1_000)];
    assert.deepEqual(noteLongLoops({ steps: two }), []);
  });
});

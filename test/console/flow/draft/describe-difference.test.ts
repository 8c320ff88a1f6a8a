import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describeDifference, isSameTree } from '../../../../console/flow/draft/compare-steps.ts';
import type { Step } from '../../../../console/flow/draft/steps.ts';
import { trees } from '../arbitrary-steps.ts';

const pass = (step_id: string, name = step_id): Step => ({
  type: 'sequential',
  step_id,
  name,
  processor_type: 'passthrough',
});
const loop = (...body: Step[]): Step => ({
  type: 'loop',
  step_id: 'l',
  name: 'Loop',
  max_iterations: 2,
  body,
});

describe('the difference of two drafts', () => {
  it('names what was added, deleted, moved and changed', () => {
    const before = [pass('a', 'A'), pass('b', 'B'), loop(pass('c', 'C'))];
    const after = [pass('b', 'Bee'), { ...loop(pass('a', 'A'), pass('d', 'D')), max_iterations: 3 } as Step];
    assert.deepEqual(describeDifference(before, after), [
      'D is added',
      'A is moved',
      'B: name',
      'Loop: limit of repetitions',
      'C is deleted',
    ]);
  });

  it('says so when only the order differs', () => {
    assert.deepEqual(describeDifference([pass('a'), pass('b')], [pass('b'), pass('a')]), [
      'The order of the steps',
    ]);
  });

  it('is empty for equal trees, whatever the order of their keys', () => {
    fc.assert(
      fc.property(trees, (steps) => {
        const copy = JSON.parse(JSON.stringify(steps));
        assert.deepEqual(describeDifference(steps, copy), []);
        assert.ok(isSameTree(steps, copy));
      }),
    );
    const [one, other] = [{ ...pass('a') }, Object.fromEntries(Object.entries(pass('a')).reverse())];
    assert.ok(isSameTree([one], [other as unknown as Step]));
    assert.ok(!isSameTree([pass('a')], [pass('b')]));
  });
});

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eachStep, type Step } from '../../../../console/flow/draft/steps.ts';
import { type Direction, findNeighbour } from '../../../../console/flow/graph/step-neighbours.ts';
import { trees } from '../arbitrary-steps.ts';

const pass = (step_id: string): Step => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'passthrough',
});
const flow: Step[] = [
  pass('a'),
  {
    type: 'parallel',
    step_id: 'p',
    name: 'P',
    branches: {
      left: [pass('l1'), pass('l2')],
      right: [{ type: 'loop', step_id: 'loop', name: 'Loop', max_iterations: 1, body: [pass('r1')] }],
    },
  },
  pass('z'),
];
const go = (id: string, direction: Direction) => findNeighbour(flow, id, direction)?.step_id;

describe('arrow keys in a graph', () => {
  it('go down the lines, into frames and out of them', () => {
    assert.deepEqual(
      ['a', 'p', 'l1', 'l2', 'z'].map((id) => go(id, 'down')),
      ['p', 'l1', 'l2', 'z', undefined],
    );
    assert.equal(go('r1', 'down'), 'z');
  });

  it('go back up the lines', () => {
    assert.deepEqual(
      ['z', 'l2', 'l1', 'p', 'a', 'r1'].map((id) => go(id, 'up')),
      ['l2', 'l1', 'p', 'a', undefined, 'loop'],
    );
  });

  it('go to the neighbouring branch, from inside a loop too', () => {
    assert.equal(go('l2', 'right'), 'loop');
    assert.equal(go('loop', 'left'), 'l1');
    assert.equal(go('r1', 'left'), 'l1');
    assert.equal(go('l1', 'left'), undefined);
    assert.equal(go('a', 'right'), undefined);
  });

  it('go to the first and the last step', () => {
    assert.deepEqual([go('l1', 'first'), go('l1', 'last')], ['a', 'z']);
  });

  it('reach every step from the first one', () => {
    fc.assert(
      fc.property(trees, (steps) => {
        const reached = new Set<string>();
        const visit = (step: Step | undefined) => {
          if (!step || reached.has(step.step_id)) return;
          reached.add(step.step_id);
          for (const direction of ['up', 'down', 'left', 'right'] as const)
            visit(findNeighbour(steps, step.step_id, direction));
        };
        visit(steps[0]);
        assert.equal(reached.size, [...eachStep(steps)].length);
      }),
    );
  });
});

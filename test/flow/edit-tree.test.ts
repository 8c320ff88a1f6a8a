import assert from 'node:assert/strict';
import type { FlowDefinition, Step } from '../../flow/definition.ts';
import { addBlock, moveStep, removeLoop, removeStep, setLoop } from '../../flow/edit-tree.ts';
import { passthrough } from '../blocks.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => passthrough(id)) as [Step, Step, Step, Step];
const parallel = (branches: { [name: string]: Step[] }): Step => ({
  type: 'parallel',
  step_id: 'p',
  name: 'P',
  branches,
});
const loop = (body: Step[]): Step => ({ type: 'loop', step_id: 'l', name: 'L', body, max_iterations: 3 });
const flow = (...steps: Step[]): FlowDefinition => ({ steps });
const block = (name: string) => ({ name, processor_type: 'passthrough' as const });

describe('edits of a tree of steps', () => {
  it('leave the tree they are given as it is', () => {
    const tree = flow(parallel({ x: [a], y: [b] }), c);
    const before = structuredClone(tree);
    addBlock(tree, block('New'), { target: 'a', direction: 'bottom' });
    moveStep(tree, 'c', { target: 'a', direction: 'right' });
    removeStep(tree, 'a');
    assert.deepEqual(tree, before);
  });

  it('wrap a target that is alone in no branch, also inside a loop', () => {
    const { definition } = addBlock(flow(loop([a, b])), block('New'), { target: 'b', direction: 'bottom' });
    const [{ body }] = definition.steps as [Extract<Step, { type: 'loop' }>];
    assert.deepEqual(Object.keys((body[1] as Extract<Step, { type: 'parallel' }>).branches), ['b', 'new']);
  });

  it('add a branch to a target that is a parallel step, under a name that is free', () => {
    const { definition } = addBlock(flow(parallel({ new: [a] })), block('New'), {
      target: 'p',
      direction: 'bottom',
    });
    assert.deepEqual(
      definition,
      flow(parallel({ new: [a], 'new-2': [{ ...passthrough('new'), name: 'New' }] })),
    );
  });

  it('take out what a removal leaves empty, and nothing else', () => {
    assert.deepEqual(removeStep(flow(parallel({ x: [a], y: [b] }), c), 'a'), flow(parallel({ y: [b] }), c));
    assert.deepEqual(removeStep(flow(loop([parallel({ x: [a] })]), c), 'a'), flow(c));
    assert.deepEqual(removeStep(flow(a, parallel({ x: [b] })), 'p'), flow(a));
  });

  it('move steps out of, into and beside what holds them', () => {
    const tree = flow(a, parallel({ x: [b], y: [c] }), d);
    const right = (target?: string) => ({ target, direction: 'right' as const });
    assert.deepEqual(moveStep(tree, 'b', right('d')), flow(a, parallel({ y: [c] }), d, b));
    assert.deepEqual(moveStep(tree, 'a', right('b')), flow(parallel({ x: [b, a], y: [c] }), d));
    assert.deepEqual(moveStep(tree, 'a', right()), flow(parallel({ x: [b], y: [c] }), d, a));
    assert.deepEqual(moveStep(flow(parallel({ x: [a] })), 'a', right('p')), flow(a));
    assert.deepEqual(
      moveStep(tree, 'd', { target: 'b', direction: 'bottom' }),
      flow(a, parallel({ x: [b], y: [c], d: [d] })),
    );
  });

  it('put a step into a loop, change how it loops, and take the loop away', () => {
    const until = { pointer: '/done', equals: true };
    const looping = setLoop(flow(a, b), 'a', { max_iterations: 5, until });
    assert.deepEqual(looping.steps[0], {
      ...loop([a]),
      step_id: 'loop',
      name: 'Loop',
      max_iterations: 5,
      until,
    });
    const changed = setLoop(looping, 'loop', { max_iterations: 2 });
    assert.deepEqual(changed.steps[0], { ...loop([a]), step_id: 'loop', name: 'Loop', max_iterations: 2 });
    assert.deepEqual(removeLoop(changed, 'loop'), flow(a, b));
    assert.throws(() => removeLoop(flow(a), 'a'), { code: 'VALIDATION_ERROR' });
  });

  it('refuse to move a step beside itself or into itself', () => {
    for (const target of ['p', 'a'])
      assert.throws(() => moveStep(flow(parallel({ x: [a] })), 'p', { target, direction: 'right' }), {
        code: 'VALIDATION_ERROR',
      });
  });

  it('name the steps there are when one is not found', () => {
    assert.throws(() => removeStep(flow(a, loop([b])), 'z'), { code: 'NOT_FOUND', message: /a, l, b/ });
  });
});

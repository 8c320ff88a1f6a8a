import assert from 'node:assert/strict';
import {
  addBranch,
  canShiftBranch,
  newStep,
  removeBranch,
  renameBranch,
  shiftBranch,
} from '../../../../console/flow/draft/new-step.ts';
import { eachStep, type Step, stepIdsOf } from '../../../../console/flow/draft/steps.ts';

const pass = (step_id: string): Step => ({
  type: 'sequential',
  step_id,
  name: step_id,
  processor_type: 'passthrough',
});
const reader: Step = {
  type: 'sequential',
  step_id: 'r',
  name: 'R',
  processor_type: 'llm',
  prompt: '{{steps.p.left}} {{steps.p.left.0}} {{steps.other.left}} {{steps.p.lefty}}',
};
const flow: Step[] = [
  { type: 'parallel', step_id: 'p', name: 'P', branches: { left: [pass('a')], right: [pass('b')] } },
  reader,
];
const branchesOf = ([step]: Step[]) => Object.keys((step as Extract<Step, { type: 'parallel' }>).branches);

describe('branches of a parallel step', () => {
  it('are added with a step, under a free name', () => {
    const twice = addBranch(addBranch(flow, 'p'), 'p');
    assert.deepEqual(branchesOf(twice), ['left', 'right', 'branch', 'branch-2']);
    assert.equal(stepIdsOf(twice).size, [...eachStep(twice)].length);
  });

  it('keep their position when they are renamed, and prompts that read them follow', () => {
    const renamed = renameBranch(flow, 'p', 'left', 'first');
    assert.deepEqual(branchesOf(renamed), ['first', 'right']);
    const { prompt } = renamed[1] as Extract<Step, { type: 'sequential' }>;
    assert.equal(prompt, '{{steps.p.first}} {{steps.p.first.0}} {{steps.other.left}} {{steps.p.lefty}}');
  });

  it('are removed with their steps, except the last one', () => {
    const one = removeBranch(flow, 'p', 'left');
    assert.deepEqual(branchesOf(one), ['right']);
    assert.deepEqual(branchesOf(removeBranch(one, 'p', 'right')), ['right']);
  });

  it('change places', () => {
    assert.deepEqual(branchesOf(shiftBranch(flow, 'p', 'left', 1)), ['right', 'left']);
    assert.deepEqual(branchesOf(shiftBranch(flow, 'p', 'left', -1)), ['left', 'right']);
  });

  it('can be moved, unless at the end or named by whole numbers', () => {
    const branches = { a: [pass('a')], b: [pass('b')], 1: [pass('c')], 2: [pass('d')] };
    const step = { type: 'parallel' as const, step_id: 'p', name: 'p', branches };
    const movable = Object.keys(branches).flatMap((name) =>
      ([-1, 1] as const).filter((by) => canShiftBranch(step, name, by)).map((by) => [name, by]),
    );
    assert.deepEqual(movable, [
      ['a', 1],
      ['b', -1],
    ]);
  });
});

describe('a new step', () => {
  for (const kind of ['llm', 'code', 'passthrough', 'parallel', 'loop'] as const)
    it(`of the kind ${kind} has free ids and no empty list`, () => {
      const first = newStep(kind, flow);
      const steps = [...flow, first];
      const second = newStep(kind, steps);
      const all = [...steps, second];
      assert.equal(stepIdsOf(all).size, [...eachStep(all)].length);
    });

  it('that calls a model takes the last model of the flow', () => {
    const model = (step: Step) => (step as { model?: string }).model;
    assert.equal(model(newStep('llm', flow)), undefined);
    assert.equal(model(newStep('llm', [...flow, { ...reader, model: 'demo/chat' } as Step])), 'demo/chat');
  });
});

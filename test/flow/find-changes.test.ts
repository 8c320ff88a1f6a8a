import assert from 'node:assert/strict';
import type { Step } from '../../flow/definition.ts';
import { findChanges } from '../../flow/find-changes.ts';

const block = (step_id: string, more: object = {}) =>
  ({ type: 'sequential', step_id, name: step_id, processor_type: 'passthrough', ...more }) as Step;
const loop = (step_id: string, body: Step[], more: object = {}) =>
  ({ type: 'loop', step_id, name: step_id, body, max_iterations: 100, ...more }) as Step;
const parallel = (step_id: string, branches: { [name: string]: Step[] }) =>
  ({ type: 'parallel', step_id, name: step_id, branches }) as Step;
const changes = (from: Step[], to: Step[]) => findChanges({ steps: from }, { steps: to });

describe('findChanges', () => {
  it('finds none between equal flows, whatever the order of keys', () => {
    const config = { processor_config: { temperature: 1, seed: 2 } };
    const same = { processor_config: { seed: 2, temperature: 1 } };
    const tree = (more: object) => [loop('l', [parallel('p', { one: [block('a', more)], two: [] })])];
    assert.deepEqual(changes(tree(config), tree(same)), []);
  });

  it('names each field of a step that differs, wherever the step is', () => {
    const from = [loop('l', [block('a', { prompt: 'x', model: 'm/1' })])];
    const to = [loop('l', [block('a', { prompt: 'y', outputSchema: true })], { max_iterations: 5 })];
    assert.deepEqual(changes(from, to), [
      { step_id: 'l', field: 'max_iterations', from: 100, to: 5 },
      { step_id: 'a', field: 'prompt', from: 'x', to: 'y' },
      { step_id: 'a', field: 'model', from: 'm/1', to: undefined },
      { step_id: 'a', field: 'outputSchema', from: undefined, to: true },
    ]);
  });

  it('shows added and removed steps with their fields, and where they were put', () => {
    const { step_id: _, ...fields } = block('b');
    assert.deepEqual(changes([block('a')], [block('b'), block('a')]), [
      { step_id: null, field: 'steps', from: ['a'], to: ['b', 'a'] },
      { step_id: 'b', field: '', from: undefined, to: fields },
    ]);
    assert.deepEqual(changes([block('b'), block('a')], [block('a')]), [
      { step_id: null, field: 'steps', from: ['b', 'a'], to: ['a'] },
      { step_id: 'b', field: '', from: fields, to: undefined },
    ]);
  });

  it('shows moved steps by the order in what holds them, in which their own fields stay', () => {
    const from = [block('a'), parallel('p', { one: [block('b')], two: [] })];
    const to = [parallel('p', { one: [], two: [block('b'), block('a')] })];
    assert.deepEqual(changes(from, to), [
      { step_id: null, field: 'steps', from: ['a', 'p'], to: ['p'] },
      { step_id: 'p', field: 'branches', from: { one: ['b'], two: [] }, to: { one: [], two: ['b', 'a'] } },
    ]);
  });

  it('finds steps with the names of members of objects', () => {
    const { step_id: _, ...fields } = block('toString');
    assert.deepEqual(changes([], [block('toString')])[1], {
      step_id: 'toString',
      field: '',
      from: undefined,
      to: fields,
    });
  });
});

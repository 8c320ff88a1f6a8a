// Outputs that a block reads by their names are those that the interpreter made before it.
import assert from 'node:assert/strict';
import { composeVisibleOutputs, lookUpFacts } from '../../flow/compose-outputs.ts';
import type { Json, Step } from '../../flow/definition.ts';
import { interpret, meets, type Surroundings } from '../../flow/interpreter.ts';
import { listVisibleSteps } from '../../flow/list-steps-read.ts';
import { blockKey, toPlan } from '../../flow/plan.ts';
import { MESSAGE_REF, resolveValue, toLeaf, type Value } from '../../flow/value.ts';
import { passthrough } from '../blocks.ts';

type Seen = { [key: string]: { [stepId: string]: Json } };

/** Runs a flow whose blocks answer as `process` says; returns the outputs that each block execution sees, by its key. */
async function see(steps: Step[], process: (key: string, input: Json) => Json): Promise<Seen> {
  const store = new Map<string, Json>([[MESSAGE_REF, 'm']]);
  const seen: Seen = {};
  const resolve = (value: Value) =>
    resolveValue(value, async (refs) => {
      for (const ref of refs) assert(store.has(ref), `${ref} is read before it is stored`);
      return new Map(refs.map((ref) => [ref, { json: store.get(ref) as Json }]));
    });
  const plan = toPlan(steps);
  const surroundings: Surroundings = {
    async runBlock({ step_id }, input, iterations) {
      const key = blockKey(step_id, iterations);
      const names = new Set((listVisibleSteps(plan, step_id) ?? []).map((step) => step.step_id));
      const values = await composeVisibleOutputs(
        plan,
        { stepId: step_id, iterations },
        names,
        { ref: MESSAGE_REF },
        (ref) => JSON.stringify(store.get(ref)).length,
        lookUpFacts(resolve, new Map()),
      );
      assert.deepEqual([...values.keys()].sort(), [...names].sort());
      seen[key] = {};
      for (const [stepId, value] of values) seen[key][stepId] = await resolve(value);
      const output = process(key, await resolve(input));
      store.set(key, output);
      return toLeaf(key, output, JSON.stringify(output).length);
    },
    async inspect(value) {
      const json = await resolve(value);
      return { items: Array.isArray(json) ? json.length : undefined };
    },
    holds: async (condition, value) => meets(condition, await resolve(value)),
  };
  await interpret(plan, { ref: MESSAGE_REF }, surroundings);
  return seen;
}

const loop = (step_id: string, body: Step[], more: object = {}): Step => ({
  type: 'loop',
  step_id,
  name: step_id,
  body,
  max_iterations: 10,
  ...more,
});
const parallel = (step_id: string, branches: { [name: string]: Step[] }): Step => ({
  type: 'parallel',
  step_id,
  name: step_id,
  branches,
});

describe('composeVisibleOutputs', () => {
  it('has the steps before, and what branches and loops made together', async () => {
    const steps = [
      passthrough('a'),
      parallel('both', { one: [passthrough('b')], two: [passthrough('c'), passthrough('d')] }),
      passthrough('list'),
      loop('each', [passthrough('item')]),
      passthrough('end'),
    ];
    const seen = await see(steps, (key) => (key === 'list' ? [1, 2] : key));
    const both = { one: 'b', two: 'd' };
    assert.deepEqual(seen, {
      a: {},
      b: { a: 'a' },
      c: { a: 'a' },
      d: { a: 'a', c: 'c' },
      list: { a: 'a', both },
      'item#0': { a: 'a', both, list: [1, 2] },
      'item#1': { a: 'a', both, list: [1, 2] },
      end: { a: 'a', both, list: [1, 2], each: ['item#0', 'item#1'] },
    });
  });

  it('has the outputs of the same iteration, of loops inside loops too', async () => {
    const steps = [
      passthrough('rows'),
      loop('outer', [
        passthrough('row'),
        loop('inner', [passthrough('cell'), passthrough('after')]),
        passthrough('sum'),
      ]),
    ];
    const rows = [[1, 2], [], [3]];
    const seen = await see(steps, (key, input) =>
      key === 'rows' ? rows : key.startsWith('row#') ? input : key,
    );
    assert.deepEqual(seen['after#0.1'], { rows, row: [1, 2], cell: 'cell#0.1' });
    assert.deepEqual(seen['sum#0'], { rows, row: [1, 2], inner: ['after#0.0', 'after#0.1'] });
    assert.deepEqual(seen['sum#1'], { rows, row: [], inner: [] });
    assert.deepEqual(seen['sum#2'], { rows, row: [3], inner: ['after#2.0'] });
  });

  it('follows a loop until its condition holds, also in bodies that end with loops', async () => {
    const steps = [
      loop('again', [loop('each', [passthrough('x')]), parallel('p', { q: [passthrough('y')] })], {
        until: { pointer: '/q', equals: 3 },
      }),
      passthrough('end'),
    ];
    const list = [passthrough('list'), loop('first', [passthrough('z')])];
    const seen = await see(
      [...list, loop('whole', steps, { max_iterations: 1, until: { pointer: '', equals: 1 } })],
      (key) => {
        if (key === 'list') return [[0], [1, 2]];
        if (key.startsWith('y#')) return 3;
        return key;
      },
    );
    assert.deepEqual(seen['end#0'], {
      list: [[0], [1, 2]],
      first: ['z#0', 'z#1'],
      again: [{ q: 3 }],
    });
  });

  it('gives each iteration of a loop with a condition the output of the one before', async () => {
    const steps = [
      passthrough('list'),
      loop('again', [loop('each', [passthrough('x')]), passthrough('more')], {
        until: { pointer: '/3', equals: 1 },
      }),
    ];
    const seen = await see(steps, (key, input) =>
      key === 'list' ? [1] : key.startsWith('more') ? [...(input as Json[]), 1] : 1,
    );
    assert.deepEqual(
      ['more#0', 'more#1', 'more#2'].map((key) => seen[key]?.each),
      [[1], [1, 1], [1, 1, 1]],
    );
  });
});

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { composeOutputs } from '../../flow/compose-outputs.ts';
import type { Json, Step } from '../../flow/definition.ts';
import type { ServiceError } from '../../flow/errors.ts';
import { inspectItems, interpret, meets, type Surroundings } from '../../flow/interpreter.ts';
import { BLOCK_RUNS_MAX } from '../../flow/limits.ts';
import { blockKey, toPlan } from '../../flow/plan.ts';
import { isPause } from '../../flow/tool-calls.ts';
import { type Load, MESSAGE_REF, resolveValue, toLeaf, type Value } from '../../flow/value.ts';
import { passthrough } from '../blocks.ts';
import { propertyRuns } from '../full-size.ts';

type Process = (stepId: string, input: Json) => Json | Promise<Json>;

/** Interprets steps over a store in memory; answers the result's JSON, the keys in the order they ran, and the store. */
async function run(steps: Step[], message: string, process: Process) {
  const store = new Map<string, Json>([[MESSAGE_REF, message]]);
  const keys: string[] = [];
  const resolve = (value: Value) =>
    resolveValue(value, async (refs) => {
      for (const ref of refs) assert(store.has(ref), `${ref} is referred to before it is stored`);
      return new Map(refs.map((ref) => [ref, { json: store.get(ref) as Json }]));
    });
  const surroundings: Surroundings = {
    async runBlock(block, input, iterations) {
      const key = blockKey(block.step_id, iterations);
      keys.push(key);
      const output = await process(block.step_id, await resolve(input));
      assert(!store.has(key), `${key} ran twice`);
      store.set(key, output);
      return toLeaf(key, output, JSON.stringify(output).length);
    },
    async inspect(value) {
      return inspectItems(await resolve(value));
    },
    holds: async (condition, value) => meets(condition, await resolve(value)),
  };
  const result = await interpret(toPlan(steps), { ref: MESSAGE_REF }, surroundings);
  assert(!isPause(result));
  return { result: await resolve(result), keys, store };
}

function loop(stepId: string, body: Step[], more: Partial<Extract<Step, { type: 'loop' }>> = {}): Step {
  return { type: 'loop', step_id: stepId, name: stepId, body, max_iterations: 100, ...more };
}
function parallel(stepId: string, branches: { [name: string]: Step[] }): Step {
  return { type: 'parallel', step_id: stepId, name: stepId, branches };
}

const LONG = { max_iterations: 1_000 };

describe('interpret', () => {
  it('passes the message through a flow without steps', async () => {
    const { result, keys } = await run([], 'hello', () => null);
    assert.deepEqual([result, keys], ['hello', []]);
  });

  it('gives each sequential step the output of the one before', async () => {
    const { result, keys } = await run(
      [passthrough('a'), passthrough('b')],
      'm',
      (id, input) => `${input}>${id}`,
    );
    assert.equal(result, 'm>a>b');
    assert.deepEqual(keys, ['a', 'b']);
  });

  it('runs parallel branches on the same input, at the same time, and keys the output by branch', async () => {
    let waiting = 0;
    let release = (): void => undefined;
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    const steps = [parallel('p', { x: [passthrough('a')], y: [passthrough('b'), passthrough('c')] })];
    const { result } = await run(steps, 'm', async (id, input) => {
      if (id !== 'c') {
        waiting += 1;
        if (waiting === 2) release();
        await both;
      }
      return `${input}>${id}`;
    });
    assert.deepEqual(result, { x: 'm>a', y: 'm>b>c' });
  });

  it('runs a loop body over the items of the prior output and answers the array of outputs', async () => {
    const { result, keys } = await run(
      [passthrough('list'), loop('each', [passthrough('item')])],
      '',
      (id, input) => (id === 'list' ? [1, 2, 3] : (input as number) * 10),
    );
    assert.deepEqual(result, [10, 20, 30]);
    assert.deepEqual(keys, ['list', 'item#0', 'item#1', 'item#2']);
  });

  it('loops over a large array that travels by reference, and over the outputs of a loop', async () => {
    const big = Array.from({ length: 50 }, (_, index) => ({ index, text: 'x'.repeat(100) }));
    const steps = [passthrough('list'), loop('one', [passthrough('a')]), loop('two', [passthrough('b')])];
    const { result } = await run(steps, '', (id, input) => {
      if (id === 'list') return big;
      return id === 'a' ? input : ((input as { index: number }).index as Json);
    });
    assert.deepEqual(
      result,
      big.map(({ index }) => index),
    );
  });

  it('keys nested loops by every iteration', async () => {
    const steps = [passthrough('l'), loop('outer', [loop('inner', [passthrough('x')])])];
    const { keys } = await run(steps, '', (id, input) => (id === 'l' ? [[1, 2], [3]] : input));
    assert.deepEqual(keys, ['l', 'x#0.0', 'x#0.1', 'x#1.0']);
  });

  it('repeats an until loop on its own output until the condition holds', async () => {
    const steps = [loop('again', [passthrough('count')], { until: { pointer: '/n', equals: 3 } })];
    const { result } = await run(steps, '0', (_id, input) => ({
      n: typeof input === 'string' ? 1 : (input as { n: number }).n + 1,
    }));
    assert.deepEqual(result, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('asks for the condition on an output that travels by reference', async () => {
    const steps = [loop('again', [passthrough('grow')], { until: { pointer: '/done', equals: true } })];
    const { result } = await run(steps, '', () => ({ done: true, text: 'x'.repeat(5_000) }));
    assert.equal((result as Json[]).length, 1);
  });

  it('stops an until loop at max_iterations', async () => {
    const steps = [
      loop('again', [passthrough('a')], { max_iterations: 4, until: { pointer: '', equals: 1 } }),
    ];
    assert.equal(((await run(steps, 'm', () => 0)).result as Json[]).length, 4);
  });

  it('fails a loop whose input is not an array with LOOP_INPUT_NOT_ARRAY', async () => {
    await assert.rejects(
      run([passthrough('a'), loop('l', [passthrough('b')])], 'm', () => ({})),
      {
        code: 'LOOP_INPUT_NOT_ARRAY',
      },
    );
    await assert.rejects(
      run([loop('l', [passthrough('b')])], 'm', () => ({})),
      {
        code: 'LOOP_INPUT_NOT_ARRAY',
        message: /: have the step before it return one, or give the loop an until/,
      },
    );
  });

  it('fails a loop over more items than max_iterations with LOOP_LIMIT_EXCEEDED', async () => {
    const steps = [passthrough('a'), loop('l', [passthrough('b')], { max_iterations: 2 })];
    await assert.rejects(
      run(steps, 'm', () => [1, 2, 3]),
      { code: 'LOOP_LIMIT_EXCEEDED', message: /max_iterations is 2: raise it \(at most 1000\), or hand/ },
    );
  });

  it(`fails a call of more than ${BLOCK_RUNS_MAX} block executions with LOOP_LIMIT_EXCEEDED`, async () => {
    const list = Array.from({ length: 50 }, () => 1);
    const steps = [passthrough('a'), loop('l', [passthrough('b'), loop('m', [passthrough('c')])])];
    await assert.rejects(
      run(steps, '', (id) => (id === 'a' ? [...list, ...list] : list)),
      { code: 'LOOP_LIMIT_EXCEEDED', message: /2000 blocks in one call: give its loops fewer/ },
    );
  });

  describe('fails at the entry of a loop, before any of its blocks, when', () => {
    const lists = (count: number, length: number, item: Json) =>
      Array.from({ length: count }, () => Array.from({ length }, () => item));
    const inner = loop('m', [passthrough('b')]);
    const each = (id: string, max_iterations = 1_000) =>
      loop(id, [passthrough(`${id}-block`)], { max_iterations });
    const long = 'x'.repeat(100);
    for (const [when, loops, items, expected] of [
      [
        'its items have too many items',
        [loop('l', [inner])],
        lists(100, 50, long),
        ['LOOP_LIMIT_EXCEEDED', 'l', undefined],
      ],
      [
        'an item of its small items has too many items',
        [loop('l', [loop('m', [each('k', 2)])])],
        [[[1]], [[1, 2, 3]]],
        ['LOOP_LIMIT_EXCEEDED', 'k', [1, 0]],
      ],
      [
        'one of its items has too many items',
        [loop('l', [inner])],
        [[], Array(101).fill(long)],
        ['LOOP_LIMIT_EXCEEDED', 'm', [1]],
      ],
      [
        'one of its items is no array',
        [loop('l', [inner])],
        [[long.repeat(30)], 7],
        ['LOOP_INPUT_NOT_ARRAY', 'm', [1]],
      ],
      [
        'the loops that follow get too many items',
        [each('l'), each('m'), each('n')],
        Array(1_000).fill(1),
        ['LOOP_LIMIT_EXCEEDED', 'l', undefined],
      ],
      [
        'a loop that follows may not have so many',
        [each('l'), each('m', 5)],
        [1, 2, 3, 4, 5, 6],
        ['LOOP_LIMIT_EXCEEDED', 'm', undefined],
      ],
      [
        'loops side by side that follow get too many',
        [each('l'), parallel('p', { x: [each('m')], y: [each('n')] })],
        Array(700).fill(1),
        ['LOOP_LIMIT_EXCEEDED', 'l', undefined],
      ],
    ] as [string, Step[], Json, unknown[]][])
      it(when, async () => {
        const begun: string[] = [];
        const process: Process = (id, input) => {
          begun.push(id);
          return id === 'a' ? items : input;
        };
        await assert.rejects(run([passthrough('a'), ...loops], '', process), (error: ServiceError) => {
          assert.deepEqual([error.code, error.extra.step_id, error.extra.iterations], expected);
          return true;
        });
        assert.deepEqual(begun, ['a']);
      });
  });

  it('fails at the entry of a loop whose items, with the blocks beside and after it, cannot fit', async () => {
    const three = [passthrough('x'), passthrough('y'), passthrough('z')];
    const list = (length: number) => Array.from({ length }, () => 1);
    const two = { l: [loop('l', [passthrough('x')], LONG)], m: [loop('m', [passthrough('y')], LONG)] };
    for (const [steps, items, ran, step_id] of [
      [[passthrough('a'), loop('l', three, LONG)], list(1_000), ['a'], 'l'],
      [
        [passthrough('a'), loop('l', [...three, passthrough('w')], LONG), passthrough('b')],
        list(500),
        ['a'],
        'l',
      ],
      [
        [passthrough('a'), { type: 'parallel', step_id: 'p', name: 'p', branches: two }],
        list(1_000),
        ['a', 'x'],
        'm',
      ],
    ] as [Step[], Json, string[], string][]) {
      const begun = new Set<string>();
      const process: Process = (id, input) => {
        begun.add(id);
        return id === 'a' ? items : input;
      };
      await assert.rejects(run(steps, '', process), (error: ServiceError) => {
        assert.deepEqual([error.code, error.extra.step_id], ['LOOP_LIMIT_EXCEEDED', step_id]);
        return true;
      });
      assert.deepEqual([...begun], ran);
    }
  });

  it(`runs a loop with as many blocks as fit: ${BLOCK_RUNS_MAX} with all others`, async () => {
    const items = Array.from({ length: BLOCK_RUNS_MAX / 2 - 1 }, () => 1);
    const steps = [passthrough('a'), loop('l', [passthrough('x'), passthrough('y')], LONG), passthrough('b')];
    const { keys } = await run(steps, '', (id, input) => (id === 'a' ? items : input));
    assert.equal(keys.length, BLOCK_RUNS_MAX);
  });

  it('answers for any tree what running its steps one at a time answers, and what is composed of its stored outputs', async () => {
    const process: Process = (id, input) => (id.startsWith('list') ? [input, id] : { id, input });
    await fc.assert(
      fc.asyncProperty(trees, async (shapes) => {
        const steps = name(shapes);
        const whole = await run(steps, 'm', process);
        // One step at a time, each on the JSON the one before answered, as a step-through session does.
        const store = new Map<string, Json>();
        let output: Json = 'm';
        for (const step of steps) {
          const before: Json = output;
          const start: Step = passthrough('start');
          const { result } = await run([start, step], 'm', (id, input) =>
            id === 'start' ? before : process(id, input),
          );
          output = result;
          store.set(step.step_id, output);
        }
        assert.deepEqual(output, whole.result);
        const load: Load = async (refs) =>
          new Map(refs.map((ref) => [ref, { json: whole.store.get(ref) as Json }]));
        const composed = await composeOutputs(toPlan(steps), new Set(whole.keys), load, { ref: MESSAGE_REF });
        assert.deepEqual(composed.outputs, Object.fromEntries(store));
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

// Trees of every kind of step; a loop is preceded by a block that answers an array.
type Shape = 'block' | { branches: Shape[][] } | { body: Shape[] };
const trees: fc.Arbitrary<Shape[]> = fc.letrec<{ steps: Shape[]; step: Shape }>((tie) => ({
  steps: fc.array(tie('step'), { minLength: 1, maxLength: 3 }),
  step: fc.oneof(
    { maxDepth: 3 },
    fc.constant('block' as const),
    fc.record({ branches: fc.array(tie('steps'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ body: tie('steps') }),
  ),
})).steps;

function name(shapes: Shape[]): Step[] {
  let next = 0;
  const id = (prefix: string) => `${prefix}-${next++}`;
  const build = (list: Shape[]): Step[] =>
    list.flatMap((shape): Step[] => {
      if (shape === 'block') return [passthrough(id('block'))];
      if ('body' in shape) return [passthrough(id('list')), loop(id('loop'), build(shape.body))];
      const branches = shape.branches.map((branch, index) => [`b${index}`, build(branch)] as const);
      return [parallel(id('parallel'), Object.fromEntries(branches))];
    });
  return build(shapes);
}

describe('meets', () => {
  const table: [string, Json, Json, boolean][] = [
    ['', 1, 1, true],
    ['', 1, '1', false],
    ['/a/b', { a: { b: true } }, true, true],
    ['/a/b', { a: null }, true, false],
    ['/missing', {}, null, false],
    ['/0', ['x'], 'x', true],
    ['/a~1b', { 'a/b': 1 }, 1, true],
    ['/m~0n', { 'm~n': 1 }, 1, true],
    ['', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, true],
    ['', { a: 1 }, { a: 1, b: 2 }, false],
    ['', [], {}, false],
    ['/__proto__', {}, {}, false],
  ];
  for (const [pointer, json, equals, expected] of table)
    it(`${JSON.stringify(json)} at "${pointer}" ${expected ? 'equals' : 'does not equal'} ${JSON.stringify(equals)}`, () => {
      assert.equal(meets({ pointer, equals }, json), expected);
    });
});

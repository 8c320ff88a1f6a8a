import assert from 'node:assert/strict';
import type { FlowDefinition, LoopStep, ParallelStep, SequentialStep, Step } from '../../flow/definition.ts';
import { findTreeProblems } from '../../flow/find-tree-problems.ts';
import { FLOW_STEPS_MAX, STEP_DEPTH_MAX } from '../../flow/limits.ts';
import { formatPath } from '../../flow/step-path.ts';

function pass(step_id: string, fields: Partial<SequentialStep> = {}): SequentialStep {
  return { type: 'sequential', step_id, name: step_id, processor_type: 'passthrough', ...fields };
}

function parallel(step_id: string, branches: ParallelStep['branches']): ParallelStep {
  return { type: 'parallel', step_id, name: step_id, branches };
}

function loop(step_id: string, body: Step[], fields: Partial<LoopStep> = {}): LoopStep {
  return { type: 'loop', step_id, name: step_id, body, max_iterations: 10, ...fields };
}

function nested(depth: number): Step {
  return depth === 0 ? pass('leaf') : loop(`level-${depth}`, [nested(depth - 1)]);
}

const llm = { processor_type: 'llm', model: 'demo/chat', prompt: '{{message}}' } as const;

/** The problems of a tree, with paths as people read them. */
const findProblems = (definition: FlowDefinition) =>
  findTreeProblems(definition).map(({ path, message }) => ({ path: formatPath(path), message }));

describe('findTreeProblems', () => {
  it('accepts a flow without steps and one with every kind of step', () => {
    assert.deepEqual(findProblems({ steps: [] }), []);
    const until = { pointer: '/a~1b/0', equals: true };
    const tree = [
      pass('a', { ...llm, processor_config: { tools_enabled: true } }),
      parallel('b', { one: [pass('c')], 'two words': [loop('d', [pass('e')], { until })] }),
      pass('f', { processor_type: 'code', prompt: 'return 1' }),
    ];
    assert.deepEqual(findProblems({ steps: tree }), []);
  });

  const cases: [rule: string, steps: Step[], path: string, message: RegExp][] = [
    [
      'step_ids are unique over the whole tree',
      [pass('a'), parallel('p', { x: [loop('l', [pass('a')])] })],
      'steps[1].branches.x[0].body[0].step_id',
      /"a" is already the step_id of steps\[0\]/,
    ],
    ['a step_id is not a reserved name', [pass('__proto__')], 'steps[0].step_id', /__proto__/],
    ['an llm block needs a model', [pass('a', { ...llm, model: undefined })], 'steps[0].model', /provider/],
    ['a model has a provider', [pass('a', { ...llm, model: 'gpt-5' })], 'steps[0].model', /provider\/model/],
    ['an llm block needs a prompt', [pass('a', { ...llm, prompt: '' })], 'steps[0].prompt', /needs a prompt/],
    [
      'a code block needs its source',
      [pass('a', { processor_type: 'code' })],
      'steps[0].prompt',
      /JavaScript/,
    ],
    [
      'only llm blocks call tools',
      [pass('a', { processor_config: { tools_enabled: true } })],
      'steps[0].processor_config.tools_enabled',
      /Only a model block/,
    ],
    [
      'blocks inside other steps call no tools',
      [loop('l', [pass('a', { ...llm, processor_config: { tools_enabled: true } })])],
      'steps[0].body[0].processor_config.tools_enabled',
      /inside a parallel or loop/,
    ],
    [
      'tool calls are not accepted when they were cut off',
      [pass('a', { ...llm, processor_config: { on_length: 'accept', tools_enabled: true } })],
      'steps[0].processor_config.on_length',
      /Only text/,
    ],
    [
      'JSON is not accepted when it was cut off',
      [pass('a', { ...llm, outputSchema: {}, processor_config: { on_length: 'accept' } })],
      'steps[0].processor_config.on_length',
      /Only text/,
    ],
    ['a parallel step has a branch', [parallel('p', {})], 'steps[0].branches', /at least one branch/],
    ['a branch has a step', [parallel('p', { x: [] })], 'steps[0].branches.x', /at least one step/],
    [
      'a branch is not a prototype',
      [parallel('p', Object.fromEntries([['__proto__', [pass('a')]]]))],
      'steps[0].branches.__proto__',
      /can't be the name/,
    ],
    [
      'branches are counted',
      [parallel('p', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`b${i}`, [pass(`s${i}`)]])))],
      'steps[0].branches',
      /this one has 33/,
    ],
    ['a loop has a body', [loop('l', [])], 'steps[0].body', /at least one step/],
    [
      'a loop ends',
      [loop('l', [pass('a')], { max_iterations: 1001 })],
      'steps[0].max_iterations',
      /1 to 1000/,
    ],
    [
      'a loop begins',
      [loop('l', [pass('a')], { max_iterations: 0 })],
      'steps[0].max_iterations',
      /1 to 1000/,
    ],
    [
      'a condition too large for the engine',
      [loop('l', [pass('a')], { until: { pointer: '/done', equals: 'x'.repeat(1_000) } })],
      'steps[0].until',
      /at most 1000/,
    ],
    [
      'a condition points with a JSON Pointer',
      [loop('l', [pass('a')], { until: { pointer: 'done', equals: 1 } })],
      'steps[0].until.pointer',
      /JSON Pointer/,
    ],
    [
      'steps are counted',
      Array.from({ length: FLOW_STEPS_MAX + 1 }, (_, i) => pass(`s${i}`)),
      'steps',
      /has 201/,
    ],
  ];
  for (const [rule, steps, path, message] of cases)
    it(`says where it is broken that ${rule}`, () => {
      const [problem, ...others] = findProblems({ steps });
      assert.equal(problem?.path, path);
      assert.match(problem.message, message);
      assert.deepEqual(others, []);
    });

  it(`lets steps nest ${STEP_DEPTH_MAX} deep, and no deeper`, () => {
    assert.deepEqual(findProblems({ steps: [nested(STEP_DEPTH_MAX)] }), []);
    const [problem] = findProblems({ steps: [nested(STEP_DEPTH_MAX + 1)] });
    assert.equal(problem?.path, `steps[0]${'.body[0]'.repeat(STEP_DEPTH_MAX)}`);
  });
});

describe('formatPath', () => {
  it('writes keys plainly where it can', () => {
    assert.equal(
      formatPath(['steps', 2, 'branches', 'sum-up', 0, 'prompt']),
      'steps[2].branches.sum-up[0].prompt',
    );
    assert.equal(formatPath(['steps', 0, 'branches', 'a b']), 'steps[0].branches["a b"]');
    assert.equal(formatPath([]), '');
  });
});

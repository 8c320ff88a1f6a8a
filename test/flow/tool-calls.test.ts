import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FlowDefinition, Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { MAX_TOOL_ITERATIONS_DEFAULT } from '../../flow/limits.ts';
import { listBlocks } from '../../flow/plan.ts';
import {
  countRounds,
  iterationCap,
  listToolSteps,
  requireMatchingResults,
  requireToolSteps,
  type ToolCallMessage,
} from '../../flow/tool-calls.ts';
import { llm, passthrough } from '../blocks.ts';
import { propertyRuns } from '../full-size.ts';

const user: ToolCallMessage = { role: 'user', content: 'hi' };
const said: ToolCallMessage = { role: 'assistant', content: 'said' };
const calls = (...ids: string[]): ToolCallMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const result = (id: string): ToolCallMessage => ({ role: 'tool', tool_call_id: id, content: '' });

describe('requireMatchingResults', () => {
  const accepted: [string, ToolCallMessage[], string[]][] = [
    ['one result for each call', [user, calls('a', 'b'), result('a'), result('b')], ['a', 'b']],
    ['results in another order', [user, calls('a', 'b'), result('b'), result('a')], ['a', 'b']],
    ['ids that a later round uses again', [user, calls('a'), result('a'), calls('a'), result('a')], ['a']],
    ['messages between rounds', [user, calls('a'), result('a'), said, user, calls('b'), result('b')], ['b']],
    ['a conversation that the caller has shortened', [calls('b'), result('b')], ['b']],
  ];
  for (const [rule, messages, expected] of accepted)
    it(`accepts ${rule}`, () => requireMatchingResults(messages, expected));

  const refused: [string, ToolCallMessage[], string[], { expected: string[]; received: string[] }][] = [
    [
      'a missing result',
      [calls('a', 'b'), result('a')],
      ['a', 'b'],
      { expected: ['a', 'b'], received: ['a'] },
    ],
    ['no result', [user, calls('a')], ['a'], { expected: ['a'], received: [] }],
    [
      'a second result of an id',
      [calls('a'), result('a'), result('a')],
      ['a'],
      { expected: ['a'], received: ['a', 'a'] },
    ],
    [
      'a result too many',
      [calls('a'), result('a'), result('x')],
      ['a'],
      { expected: ['a'], received: ['a', 'x'] },
    ],
    ['a result of an unknown id', [calls('a'), result('x')], ['a'], { expected: ['a'], received: ['x'] }],
    ['a result before its calls', [result('a'), calls('a')], ['a'], { expected: ['a'], received: ['a'] }],
    [
      'results without the calls that they answer',
      [user, result('a'), result('b')],
      ['a', 'b'],
      { expected: ['a', 'b'], received: ['a', 'b'] },
    ],
    [
      'a further result after another message',
      [calls('a'), result('a'), said, result('b')],
      ['a'],
      { expected: ['a'], received: ['a', 'b'] },
    ],
    [
      'a result after another message',
      [calls('a', 'b'), result('a'), user, result('b')],
      ['a', 'b'],
      { expected: ['a', 'b'], received: ['a'] },
    ],
    [
      'a missing result of an earlier round',
      [calls('a'), calls('b'), result('b')],
      ['b'],
      { expected: ['a'], received: [] },
    ],
    ['one id for two calls', [calls('a', 'a'), result('a')], ['a'], { expected: ['a'], received: ['a'] }],
    ['other calls than the last', [calls('x'), result('x')], ['a'], { expected: ['a'], received: ['x'] }],
    [
      'an earlier round only',
      [calls('a'), result('a')],
      ['b', 'c'],
      { expected: ['b', 'c'], received: ['a'] },
    ],
    ['an answer last', [calls('a'), result('a'), said], ['a'], { expected: ['a'], received: ['a'] }],
    ['a user message last', [calls('a'), result('a'), user], ['a'], { expected: ['a'], received: ['a'] }],
    ['no calls', [user], ['a'], { expected: ['a'], received: [] }],
    ['an empty conversation', [], ['a'], { expected: ['a'], received: [] }],
  ];
  for (const [rule, messages, expected, extra] of refused)
    it(`refuses ${rule}`, () =>
      assert.throws(
        () => requireMatchingResults(messages, expected),
        (error: unknown) => {
          assert(error instanceof ServiceError);
          assert.equal(error.code, 'TOOL_RESULTS_MISMATCH');
          assert.deepEqual(error.extra, extra);
          return true;
        },
      ));

  it('accepts exactly the permutations of the ids, whatever they are', () => {
    const ids = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 8 });
    const cases = ids.chain((asked) =>
      fc.record({
        asked: fc.constant(asked),
        received: fc.oneof(
          fc.shuffledSubarray(asked, { minLength: asked.length }),
          fc.array(fc.oneof(fc.constantFrom(...asked), fc.string()), { maxLength: 9 }),
        ),
      }),
    );
    fc.assert(
      fc.property(cases, ({ asked, received }) => {
        const matches = JSON.stringify(asked.toSorted()) === JSON.stringify(received.toSorted());
        const check = () => requireMatchingResults([user, calls(...asked), ...received.map(result)], asked);
        if (matches) check();
        else assert.throws(check, { code: 'TOOL_RESULTS_MISMATCH' });
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});

describe('countRounds', () => {
  it('counts messages that ask for tools, however many of them', () => {
    assert.equal(countRounds([user, calls('a', 'b'), result('a'), result('b'), said, calls('c')]), 2);
    assert.equal(countRounds([user, said, { role: 'assistant', tool_calls: [] }]), 0);
  });
});

describe('blocks that call tools', () => {
  const asks = (stepId: string, cap?: number): Step =>
    llm(stepId, '', 'demo/chat', {
      processor_config: { tools_enabled: true, ...(cap && { max_tool_iterations: cap }) },
    });
  const loop: Step = { type: 'loop', step_id: 'l', name: 'l', max_iterations: 1, body: [asks('inside')] };
  const parallel: Step = { type: 'parallel', step_id: 'p', name: 'p', branches: { a: [loop] } };

  it('are the sequential steps with the flag', () => {
    const off = llm('off', '', 'demo/chat', { processor_config: { tools_enabled: false } });
    const definition = { steps: [asks('a'), off, passthrough('b'), asks('c'), loop] };
    assert.deepEqual(listToolSteps(definition), ['a', 'c']);
  });

  it(`may take ${MAX_TOOL_ITERATIONS_DEFAULT} round-trips, or as many as they say`, () => {
    const [one, other] = listBlocks({ steps: [asks('a'), asks('b', 3)] });
    assert(one && other);
    assert.deepEqual([iterationCap(one), iterationCap(other)], [25, 3]);
  });

  const flows: [string, FlowDefinition, string | undefined][] = [
    ['no steps', { steps: [] }, 'TOOLS_NOT_ENABLED'],
    ['none', { steps: [passthrough('a'), llm('b', '', 'demo/chat')] }, 'TOOLS_NOT_ENABLED'],
    ['one inside a loop', { steps: [asks('a'), loop] }, 'TOOLS_IN_NON_SEQUENTIAL_STEP'],
    ['one deep inside a parallel step', { steps: [parallel] }, 'TOOLS_IN_NON_SEQUENTIAL_STEP'],
    ['one of its own', { steps: [asks('a')] }, undefined],
  ];
  for (const [rule, definition, code] of flows)
    it(`${code ?? 'no error'} for a flow with ${rule}`, () => {
      if (code) assert.throws(() => requireToolSteps(definition), { code });
      else requireToolSteps(definition);
    });
});

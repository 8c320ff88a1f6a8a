import assert from 'node:assert/strict';
import { listStepsRead, type StepsRead } from '../../flow/list-steps-read.ts';
import { code, llm, passthrough } from '../blocks.ts';

describe('listStepsRead', () => {
  const blockOf = (source: string) => code('b', source) as Parameters<typeof listStepsRead>[0];
  const sources: [rule: string, source: string, read: StepsRead][] = [
    ['finds members', 'return outputs.a.x + outputs["b-c"] + outputs?.d + outputs["a"]', ['a', 'b-c', 'd']],
    ['finds an optional member in brackets', "outputs?.['a']", ['a']],
    ['takes a name that is computed for any', 'return outputs[input]', 'all'],
    ['takes the variable alone for all steps', 'const { a } = outputs; return outputs.b', 'all'],
    ['takes a member that every object has for all steps', 'return outputs.hasOwnProperty(input)', 'all'],
    ['takes a spread for all steps', 'return { ...outputs }', 'all'],
    ['ignores members of that name', 'return input.outputs.a + my_outputs.b + outputs2.c', []],
    ['ignores a variable of its own', 'const outputs = []; return outputs', []],
    [
      'reads beside a variable of an inner function',
      'const f = () => { let outputs }; return outputs.a',
      ['a'],
    ],
    ['reads beside a text that declares a variable', 'return `var outputs = ${outputs.a}`', ['a']],
    ['reads for comments and texts', '// outputs.a\nreturn "outputs.b"', ['a', 'b']],
    ['takes a comment that speaks of outputs for all steps', '// all outputs\nreturn outputs.a', 'all'],
    ['finds nothing', 'return input', []],
  ];
  for (const [rule, source, read] of sources)
    it(rule, () => assert.deepEqual(listStepsRead(blockOf(source)), read));

  it('finds the steps of a prompt, each once', () => {
    const prompt = '{{steps.a}} {{ steps.b-c.items.0 }} {{steps.a.x}} {{parameters.steps.d}} outputs.e';
    const block = llm('b', prompt, 'demo/chat') as Parameters<typeof listStepsRead>[0];
    assert.deepEqual(listStepsRead(block), ['a', 'b-c']);
  });

  it('finds none for a passthrough block', () => {
    const block = passthrough('b', { prompt: 'outputs.a {{steps.a}}' }) as Parameters<
      typeof listStepsRead
    >[0];
    assert.deepEqual(listStepsRead(block), []);
  });

  it('reads sources that are made to take long', () => {
    const repeated = ['/*', "'\\", '"\\', 'outputs ', 'outputs?.[ ', ' '.repeat(50), '...outputs'];
    for (const part of repeated) {
      const source = `outputs${part.repeat(Math.floor(250_000 / part.length))}`;
      listStepsRead(blockOf(source));
    }
  });
});

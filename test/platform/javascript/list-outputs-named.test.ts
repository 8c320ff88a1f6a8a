import assert from 'node:assert/strict';
import { FLOW_STEPS_MAX } from '../../../flow/limits.ts';
import { readCode } from '../../../platform/javascript/read-code.ts';

describe('listOutputsNamed', () => {
  const sources: [rule: string, source: string, named: string[]][] = [
    [
      'finds members, each once',
      'return outputs.a.x + outputs["b-c"] + outputs?.d + outputs["a"]',
      ['a', 'b-c', 'd'],
    ],
    ['finds an optional member in brackets', "return outputs?.['a']", ['a']],
    ['finds a member of a spread', 'return [...outputs.a]', ['a']],
    ['finds names beside a computed one', 'return outputs[input] + outputs.a', ['a']],
    ['finds names beside all outputs', 'return [Object.keys(outputs).length, outputs.a ?? 1]', ['a']],
    ['finds names beside a spread', 'return { ...outputs, a: outputs.a }', ['a']],
    [
      'finds destructured names',
      "const { a, 'b-c': b, d: { e } = {}, [input]: f, ...g } = outputs; return a",
      ['a', 'b-c', 'd'],
    ],
    ['finds names that an assignment destructures', 'let a; ({ a } = outputs); return a', ['a']],
    ['finds names that a parameter destructures', 'return (({ a } = outputs) => a)()', ['a']],
    ['finds names in what a template inserts', 'return `outputs.a ${`${outputs.b} outputs.c`}`', ['b']],
    ['ignores the text of a template', 'return `See outputs.md for step ${input}`', []],
    ['ignores a regular expression', 'return /outputs.rrr/.source + /[/]outputs.a/.source', []],
    ['ignores texts and comments', 'return "outputs.a" + \'outputs.b\' // outputs.c\n/* outputs.d */', []],
    ['is not led astray by a quote in a regular expression', "return /'/.test(outputs.a)", ['a']],
    ['finds names after a comment that speaks of outputs', '// all outputs\nreturn outputs.a', ['a']],
    ['ignores members of that name', 'return input.outputs.a + my_outputs.b + outputs2.c', []],
    ['ignores a property of that name', 'const { outputs: z } = input; return z.foo', []],
    ['ignores a destructured variable of its own', 'const { outputs } = input; return outputs.foo', []],
    ['ignores a variable of its own', 'const outputs = []; outputs.push(1); return outputs', []],
    ['ignores a parameter of that name', 'return input.map((outputs) => outputs.a)', []],
    ['ignores a function of that name', 'function outputs() {}; return outputs.name', []],
    [
      'ignores what is caught under that name',
      'try { input() } catch (outputs) { return outputs.message }',
      [],
    ],
    ['ignores a variable that the code assigns', 'outputs = input; return outputs.foo', []],
    ['ignores a member that the code assigns', 'outputs.sum = 1; return outputs.sum + outputs.a', ['a']],
    ['ignores members that every object has', 'return outputs.hasOwnProperty("a")', []],
    ['finds names beside await', 'return await outputs.a', ['a']],
    ['finds none in code that does not parse', 'return outputs.a +', []],
    ['finds none', 'return input', []],
  ];
  for (const [rule, source, named] of sources)
    it(rule, () => assert.deepEqual(readCode(source).named, named));

  it('keeps more names than a flow can have steps, and more of each than a step_id can have, but not all', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `n_${index}_${'x'.repeat(100)}`);
    const listed = readCode(names.map((name) => `outputs.${name};`).join('')).named;
    assert.ok(listed.length > FLOW_STEPS_MAX && listed.length < 2 * FLOW_STEPS_MAX);
    assert.deepEqual(
      listed,
      names.slice(0, listed.length).map((name) => name.slice(0, 65)),
    );
  });

  it('reads sources that are nested deep or have many names', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `n_${index}`);
    const nested = ['(', '[', '{', '{a:', 'a?', 'a=>', '`${', 'outputs['].map((part) =>
      part.repeat(Math.floor(250_000 / part.length)),
    );
    const long = [
      ...nested,
      `let ${names.join()}`,
      `/${'(?<v>a)|'.repeat(20_000)}/`,
      `${'outputs.a;'.repeat(20_000)}`,
    ];
    for (const source of long) assert.ok(readCode(`outputs.a;${source}`).named.length <= 1);
  });
});

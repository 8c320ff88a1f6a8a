import assert from 'node:assert/strict';
import { readCode } from '../../../platform/javascript/read-code.ts';

describe('listUndefinedNames', () => {
  const cases: [rule: string, source: string, names: string[]][] = [
    [
      'finds what other runtimes have',
      'const fs = require("fs"); return fetch(process.env.URL)',
      ['require', 'fetch', 'process'],
    ],
    ['finds timers', 'await new Promise((done) => setTimeout(done, 5)); return 1', ['setTimeout']],
    ['finds imports', 'const { a } = await import("a"); return a', ['import']],
    ['finds variables of prompts', 'return previous_output + steps.a', ['previous_output', 'steps']],
    [
      'finds a name in a template, a key and a default',
      'const { [a]: b = c } = { d }; return `${e}${b}`',
      ['a', 'c', 'd', 'e'],
    ],
    [
      'finds at most five, and cuts long ones',
      `return [a, b, c, d, ${'x'.repeat(100)}, f]`,
      ['a', 'b', 'c', 'd', 'x'.repeat(65)],
    ],
    [
      'takes what code has',
      'console.log(input, message, parameters, outputs, arguments); return Math.max(1, NaN)',
      [],
    ],
    [
      'takes what the code declares, also later and elsewhere',
      'return f(A); function f(x, ...[y]) { return g ?? x + y } class A {} var g;',
      [],
    ],
    [
      'takes what it assigns, catches and imports into a pattern',
      'x = 1; [y] = [x]; try {} catch (e) { return e } for (const k in x) k; return y',
      [],
    ],
    [
      'takes members, keys, labels and private names',
      'class A { #p = 1; q() { return this.#p } } a: for (;;) break a; return { fetch: input.require, r() {} }',
      [],
    ],
    ['takes a name whose type the code asks for', 'return typeof fetch === "function" ? fetch : null', []],
    ['says nothing about code that may define names in other ways', 'eval("var a = 1"); return a', []],
    ['says nothing about code with a global object', 'globalThis.a = 1; return a', []],
    ['says nothing about code that does not parse', 'return {', []],
    ['says nothing about code that is nested too deep', '['.repeat(100_000), []],
  ];
  for (const [rule, source, names] of cases)
    it(rule, () => assert.deepEqual(readCode(source).undefinedNames ?? [], names));
});

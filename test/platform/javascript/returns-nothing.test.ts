import assert from 'node:assert/strict';
import { readCode } from '../../../platform/javascript/read-code.ts';

describe('returnsNothing', () => {
  const cases: [rule: string, source: string, isTrue: boolean][] = [
    ['finds code without a return', 'const a = input + 1;', true],
    ['finds code that returns no value', 'if (input) return;\nreturn;', true],
    [
      'finds code that only functions in it return from',
      'function f() { return 1 }\nconst g = () => 2;\nf();',
      true,
    ],
    [
      'finds code with methods that return',
      'class A { get b() { return 1 } }\n({ c() { return 2 } });',
      true,
    ],
    ['finds a value, also inside statements', 'for (const a of input) { if (a) { return a } }', false],
    ['takes code that ends by throwing for what it is', 'console.log(1);\nthrow new Error("stop")', false],
    ['says nothing about code that does not parse', 'return {', false],
    ['says nothing about code that is nested too deep', '['.repeat(100_000), false],
  ];
  for (const [rule, source, isTrue] of cases)
    it(rule, () => assert.equal(readCode(source).returnsNothing ?? false, isTrue));
});

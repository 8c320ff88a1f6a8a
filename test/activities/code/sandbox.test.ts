// The author of a code block may rely on this (activities/code/guest.ts).
import assert from 'node:assert/strict';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import type { Json } from '../../../flow/definition.ts';
import type { ServiceError } from '../../../flow/errors.ts';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { SANDBOX_GLOBALS } from '../../../platform/javascript/read-code.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';
import { runOnce } from './run-once.ts';

describe('user code', () => {
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox({ processes: 1, largeJson: createLargeJson() });
  });
  after(() => sandbox.close());

  const run = (source: string, input: Json = null): Promise<{ output: Json }> =>
    runOnce(sandbox, {
      source,
      input,
      message: 'hello',
      parameters: { tone: 'warm' },
      outputs: {},
      timeoutMs: 120_000,
    });
  const failure = async (source: string, input: Json = null): Promise<ServiceError> => {
    try {
      await run(source, input);
    } catch (error) {
      return error as ServiceError;
    }
    return assert.fail(`${source} did not fail`);
  };

  describe('contract', () => {
    it('has the names that the notes of drafts take for defined, and no others', async () => {
      const { output } = await run('return Object.getOwnPropertyNames(globalThis)');
      assert.deepEqual((output as string[]).sort(), [...SANDBOX_GLOBALS].sort());
    });

    it('gives other random numbers in every call, evenly from 0 to below 1', async () => {
      const draw = 'return Array.from({ length: 10_000 }, () => Math.random())';
      const [first, second] = [(await run(draw)).output, (await run(draw)).output] as [number[], number[]];
      const all = [...first, ...second];
      assert.equal(new Set(all).size, all.length);
      assert(all.every((number) => number >= 0 && number < 1));
      const average = all.reduce((sum, number) => sum + number) / all.length;
      assert(Math.abs(average - 0.5) < 0.02, `average ${average}`);
    });

    const outputs: [name: string, source: string, input: Json, output: Json][] = [
      [
        'gets input, message and parameters',
        'return [input, message, parameters]',
        { a: 1 },
        [{ a: 1 }, 'hello', { tone: 'warm' }],
      ],
      ['gives null without a return', 'const unused = input', 1, null],
      ['gives null for undefined', 'return undefined', 1, null],
      ['may await', 'const f = async (n) => { await null; return n * 2 }; return await f(input)', 21, 42],
      ['may return a promise', 'return Promise.all([1, Promise.resolve(2)])', null, [1, 2]],
      ['may end in a comment', 'return 1 // done', null, 1],
      ['keeps falsy values', 'return [input, 0, "", false]', null, [null, 0, '', false]],
      ['leaves undefined properties out', 'return { a: undefined, b: [undefined] }', null, { b: [null] }],
      ['calls toJSON', 'return [new Date(0)]', null, ['1970-01-01T00:00:00.000Z']],
      [
        'drops what still runs when the result is there',
        '(async () => { for (;;) await 0 })(); return 1',
        null,
        1,
      ],
      ['does not care about a rejection nobody handles', 'Promise.reject(new Error("x")); return 1', null, 1],
      [
        'passes NUL, lone surrogates and line separators',
        'return input + "\u2028"',
        '\0\ud800\u2028',
        '\0\ud800\u2028\u2028',
      ],
      [
        'takes 63 levels below the result',
        'let a = []; for (let i = 0; i < 63; i++) a = [a]; return JSON.stringify(a).length',
        null,
        128,
      ],
    ];
    for (const [name, source, input, output] of outputs) {
      it(name, async () => assert.deepEqual((await run(source, input)).output, output));
    }

    it('passes a value of 4 MB in and out', async () => {
      const rows = Array.from({ length: 40_000 }, (_, id) => ({ id, text: 'x'.repeat(75) }));
      const { output } = await run('return input', rows);
      // Compared as text: the difference of two large values takes gigabytes.
      assert.ok(JSON.stringify(output) === JSON.stringify(rows));
    });

    it('keeps nothing for the next call', async () => {
      await run('globalThis.left = 1; Object.prototype.left = 1; Array.prototype.map = null; return 1');
      const { output } = await run('return [typeof globalThis.left, typeof {}.left, [1].map((x) => x)]');
      assert.deepEqual(output, ['undefined', 'undefined', [1]]);
    });
  });

  describe('errors name the problem and the line of the source', () => {
    const errors: [source: string, message: string][] = [
      ['const a = 1;\n\nfoo()', 'ReferenceError: foo is not defined (line 3)'],
      ['const f = () => {\n  null.x;\n};\nf()', "TypeError: cannot read property 'x' of null (line 2)"],
      ['await null;\nthrow new Error("mine")', 'Error: mine (line 2)'],
      ['\nclass Mine extends Error { name = "Mine" } throw new Mine("own")', 'Mine: own (line 2)'],
      ['if (input) {', "SyntaxError: unexpected token in expression: ')' (line 1)"],
      ['let a = 1;\nlet a = 2;', 'SyntaxError: invalid redefinition of lexical identifier (line 2)'],
      ['throw "text"', 'The code threw "text"'],
      ['return { a: [{ b() {} }] }', 'The returned value is not JSON: a function at /a/0/b'],
      ['return [Symbol("s")]', 'The returned value is not JSON: a symbol at /0'],
      ['return { a: 1n }', 'The returned value is not JSON: a BigInt (use Number or String) at /a'],
      [
        'return { a: [9007199254740993] }',
        'The returned value is not JSON: the integer 9007199254740992, whose digits a number does not keep (use String) at /a/0',
      ],
      ['return { a: 0 / 0 }', 'The returned value is not JSON: NaN at /a'],
      [
        'const a = {}; a.b = [a]; return a',
        'The returned value is not JSON: an object that contains itself (a cycle) at /b/0',
      ],
      ['return () => 1', 'The returned value is not JSON: a function at its top'],
      ['await new Promise(() => {})', 'The code waits for a promise that will never be resolved'],
    ];
    for (const [source, message] of errors) {
      it(message, async () => {
        const error = await failure(source);
        assert.equal(error.code, 'CODE_ERROR');
        assert.equal(error.message, message);
      });
    }
  });

  describe('limits', () => {
    const limits: [name: string, source: string, input: Json][] = [
      ['source over 256 KB', `return 1 //${'x'.repeat(256 * 1024)}`, null],
      ['input over 16 MiB', 'return 1', 'x'.repeat(16 * 1024 * 1024)],
      [
        'input nested beyond what can be parsed',
        'return 1',
        JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)),
      ],
    ];
    for (const [name, source, input] of limits) {
      it(`answers CODE_LIMIT_EXCEEDED: ${name}`, async () => {
        assert.equal((await failure(source, input)).code, 'CODE_LIMIT_EXCEEDED');
      });
    }

    const tooLarge: [name: string, source: string][] = [
      ['over 4 MiB', 'return "x".repeat(4 * 1024 * 1024)'],
      ['over 4 MiB in bytes only', 'return "é".repeat(2 * 1024 * 1024)'],
      ['over 16 MiB', 'return "x".repeat(16 * 1024 * 1024)'],
    ];
    for (const [name, source] of tooLarge) {
      it(`answers OUTPUT_TOO_LARGE with the limit of a block's output: a result ${name}`, async () => {
        const { code, message } = await failure(source);
        assert.equal(code, 'OUTPUT_TOO_LARGE');
        assert.match(message, new RegExp(`the limit of ${OUTPUT_MAX_BYTES} bytes`));
      });
    }

    it('a result of 4 MiB is passed on', async () => {
      const { output } = await run(`return "x".repeat(${OUTPUT_MAX_BYTES - 2})`);
      assert.equal((output as string).length, OUTPUT_MAX_BYTES - 2);
    });
  });
});

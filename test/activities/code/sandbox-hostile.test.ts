// Scripts that try to stop, crash, read or deceive the sandbox. After each the pool still works.

import assert from 'node:assert/strict';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import type { Json } from '../../../flow/definition.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';
import { attacks } from '../../full-size.ts';
import { runOnce } from './run-once.ts';

type Expected = { output: Json } | { code: string; message?: RegExp };
const TIMEOUT: Expected = { code: 'CODE_TIMEOUT' };
const LIMIT: Expected = { code: 'CODE_LIMIT_EXCEEDED' };
const TIMEOUT_OR_LIMIT: Expected = { code: 'CODE_TIMEOUT|CODE_LIMIT_EXCEEDED' };
const ANY_FAILURE: Expected = { code: 'CODE_ERROR|CODE_TIMEOUT|CODE_LIMIT_EXCEEDED' };
const ERROR_OR_LIMIT: Expected = { code: 'CODE_ERROR|CODE_LIMIT_EXCEEDED' };
/** The time that scripts which end by themselves take at most, on the slowest machine. */
const PATIENCE_MS = 120_000;
const BRACE: Expected = { code: 'CODE_ERROR', message: /closes a brace/ };
const fails = (message: RegExp): Expected => ({ code: 'CODE_ERROR', message });

const SCRIPTS: [name: string, source: string, expected: Expected][] = [
  ['loop without end', 'for (;;);', TIMEOUT],
  ['loop without end that catches', 'for (;;) try { for (;;); } catch {} finally { continue }', TIMEOUT],
  ['async loop without end', 'for (;;) await 0', TIMEOUT],
  [
    'promises that make promises',
    'const f = () => Promise.resolve().then(f).then(f); await f()',
    TIMEOUT_OR_LIMIT,
  ],
  ['microtasks without end', 'const f = () => queueMicrotask(f); f(); await new Promise(() => {})', TIMEOUT],
  ['regular expression with exponential steps', 'return /^(a+)+$/.test("a".repeat(40) + "b")', TIMEOUT],
  ['native loop that no interrupt reaches', 'return [].indexOf.call({ length: 2 ** 53 - 1 }, 1)', TIMEOUT],
  [
    'sort with a comparator that never agrees',
    'for (;;) new Array(1e5).fill(0).map((_, i) => i).sort(() => 1)',
    TIMEOUT_OR_LIMIT,
  ],
  ['arrays without end', 'const a = []; for (;;) a.push([a.length])', TIMEOUT_OR_LIMIT],
  ['typed arrays without end', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', LIMIT],
  ['one array buffer of 2 GB', 'return new ArrayBuffer(2 ** 31 - 1).byteLength', ERROR_OR_LIMIT],
  ['strings that double', 'let s = "x"; for (;;) s += s; ', ANY_FAILURE],
  ['repeat', 'return "x".repeat(2 ** 30)', fails(/invalid string length/)],
  ['padEnd', 'return "x".padEnd(2 ** 29, "y").length', ANY_FAILURE],
  ['Array.from of a huge length', 'return Array.from({ length: 2 ** 32 - 1 }).length', TIMEOUT_OR_LIMIT],
  [
    'join of a sparse array',
    'const a = []; a.length = 2 ** 32 - 1; return a.join("xxxx").length',
    ANY_FAILURE,
  ],
  ['BigInt that grows', 'let n = 3n; for (;;) n *= n', ANY_FAILURE],
  ['deep recursion', 'const f = () => f() + 1; return f()', fails(/call stack/)],
  [
    'deep recursion through toString',
    'const o = { toString() { return `${o}` } }; return `${o}`',
    ERROR_OR_LIMIT,
  ],
  [
    'deep recursion in the regular expression',
    'return new RegExp("(".repeat(50000) + ")".repeat(50000)).test("")',
    ERROR_OR_LIMIT,
  ],
  ['deep recursion in the parser', 'return eval("[".repeat(100000))', ERROR_OR_LIMIT],
  ['huge output', 'return Array.from({ length: 200 }, () => "x".repeat(1e5))', { code: 'OUTPUT_TOO_LARGE' }],
  [
    'deep output',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    fails(/more than 64 levels/),
  ],
  [
    'output from a Proxy without end',
    'const p = new Proxy({}, { get: () => p, ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }); return { toJSON: undefined, p }',
    ERROR_OR_LIMIT,
  ],
  ['getter that never returns', 'return { get a() { for (;;); } }', TIMEOUT],
  [
    'getter that throws',
    'return { get a() { throw new Error("from getter") } }',
    fails(/^Error: from getter \(line 1\)$/),
  ],
  ['toJSON that returns a function', 'return { toJSON: () => () => 1 }', fails(/a function/)],
  ['key __proto__', 'return JSON.parse(\'{"__proto__": {"admin": true}}\')', fails(/a key __proto__/)],
  [
    'key constructor with a prototype',
    'return { constructor: { prototype: 1 } }',
    fails(/a key constructor with a prototype/),
  ],
  ['then that never calls back', 'return { then() {} }', fails(/will never be resolved/)],
  ['then that loops', 'return { then(r) { r(this) } }', TIMEOUT_OR_LIMIT],
  [
    'pollution of what the wrapper might use',
    'for (const o of [Object, Array, Promise, Function, String, Error]) for (const k of Object.getOwnPropertyNames(o.prototype)) try { o.prototype[k] = () => "stolen" } catch {} return 1',
    { output: 1 },
  ],
  [
    'JSON.stringify and JSON.parse replaced',
    'JSON.stringify = () => "stolen"; JSON.parse = () => "stolen"; globalThis.JSON = null; return 1',
    { output: 1 },
  ],
  [
    'Promise replaced',
    'Promise.prototype.then = () => { throw 1 }; globalThis.Promise = null; return await (async () => 2)()',
    { output: 2 },
  ],
  [
    'setters on the prototype',
    'for (const k of ["holder", "up", "key", "0", "failure", "output"]) Object.defineProperty(Object.prototype, k, { set() { throw new Error("seen") }, get() { return "stolen" } }); return { a: [1] }',
    { output: { a: [1] } },
  ],
  [
    'Reflect.apply and toString replaced',
    'Reflect.apply = Function.prototype.toString = () => { throw 1 }; throw new Error("mine")',
    fails(/^Error: mine \(line 1\)$/),
  ],
  [
    'frame in the output',
    'return "\\u0000\\u0000\\u0000\\u0002\\u0000\\u0000\\u0000\\u0000{}"',
    { output: '\0\0\0\x02\0\0\0\0{}' },
  ],
  [
    'function constructor',
    'return [].constructor.constructor("return process")()',
    fails(/process is not defined/),
  ],
  [
    'indirect eval',
    'return (0, eval)("typeof process + typeof require + typeof Deno + typeof fetch")',
    { output: 'undefined'.repeat(4) },
  ],
  ['import()', 'return await import("node:fs")', fails(/could not load module/)],
  ['import() of the guest itself', 'return await import("./guest.ts")', fails(/could not load module/)],
  ['require', 'return require("fs")', fails(/require is not defined/)],
  ['timers', 'setTimeout(() => {}, 1)', fails(/setTimeout is not defined/)],
  [
    'caller and arguments',
    'return (function f() { return [typeof f.caller, typeof arguments.callee] })()',
    { output: ['undefined', 'function'] },
  ],
  [
    'stack that lies',
    'const e = new Error("x"); e.stack = "block.js:999999"; throw e',
    fails(/^Error: x \(line 1\)$/),
  ],
  [
    'stack that throws',
    'const e = new Error("x"); Object.defineProperty(e, "stack", { get() { throw 1 } }); throw e',
    fails(/^Error: x$/),
  ],
  ['throw null', 'throw null', fails(/^The code threw null$/)],
  ['throw a symbol', 'throw Symbol("s")', fails(/^The code threw Symbol\(s\)$/)],
  [
    'throw an object with a throwing toString',
    'throw { toString() { throw 1 }, get message() { throw 2 } }',
    fails(/message cannot be read/),
  ],
  [
    'throw a revoked Proxy',
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy',
    fails(/cannot be read/),
  ],
  ['throw a message without end', 'throw new Error("x".repeat(1e6))', fails(/^Error: x{2000} \(line 1\)$/)],
  ['wrapper closed early', '}), (async function (input, message, parameters) {', BRACE],
  ['wrapper closed early and called', 'return 1 })(); globalThis.x = 1; (async function () {', BRACE],
  ['wrapper closed early, then an operator', '} + function () {', BRACE],
  [
    'wrapper closed early with a lying toString',
    '}, Function.prototype.toString = () => "x".repeat(1e4), async function () {',
    BRACE,
  ],
  ['line separators in the source', 'const s = "\u2028\u2029"; return s.length', { output: 2 }],
  ['lone surrogate in the source', 'return "\ud800".length', { output: 1 }],
  ['NUL in the source', 'return 1 \0 + 1', { code: 'CODE_ERROR' }],
  ['HTML comment in the source', 'return 1 <!-- 2\n', { output: 1 }],
  ['source that is one unclosed string', 'return "', { code: 'CODE_ERROR' }],
  ['source that is one unclosed comment', 'return 1 /*', { code: 'CODE_ERROR' }],
  [
    'waiting in Atomics',
    'return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
    { code: 'CODE_ERROR|CODE_TIMEOUT' },
  ],
  [
    'finalizers',
    'const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e4; i++) r.register({}, i); return 1',
    { output: 1 },
  ],
];

describe('hostile user code', () => {
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox({ processes: 2, largeJson: createLargeJson() });
  });
  after(() => sandbox.close());

  const run = (source: string, timeoutMs: number) =>
    runOnce(sandbox, {
      source,
      input: 'secret of this call',
      message: '',
      parameters: {},
      outputs: {},
      timeoutMs,
    });

  afterEach('the pool still works and shows nothing of the call before', async () => {
    const source = 'return [input, typeof globalThis.x, typeof {}.admin]';
    const { output } = await runOnce(sandbox, {
      source,
      input: 'clean',
      message: '',
      parameters: {},
      outputs: {},
      timeoutMs: PATIENCE_MS,
    });
    assert.deepEqual(output, ['clean', 'undefined', 'undefined']);
    assert.equal(({} as { admin?: boolean }).admin, undefined);
  });

  for (const [name, source, expected] of attacks(SCRIPTS)) {
    it(name, async () => {
      const patient = 'code' in expected && expected.code.includes('TIMEOUT') ? 300 : PATIENCE_MS;
      const result = await run(source, patient).catch((error: unknown) => error);
      if ('output' in expected) {
        assert.deepEqual((result as { output?: Json }).output, expected.output, String(result));
        return;
      }
      assert.ok(result instanceof ServiceError, `ended with ${JSON.stringify(result)}`);
      assert.match(result.code, new RegExp(`^(${expected.code})$`), result.message);
      assert.match(result.message, expected.message ?? /./);
    });
  }

  it('the global object has nothing of the host', async () => {
    const source = `
      const found = [];
      for (const name of Object.getOwnPropertyNames(globalThis)) {
        const value = globalThis[name];
        if (typeof value === 'function' && !Function.prototype.toString.call(value).includes('[native code]')) found.push(name);
      }
      return [found, Object.getOwnPropertyNames(globalThis).filter((name) => /^(process|require|module|print|std|os|scriptArgs|bjson|fetch|WebAssembly|Worker|setTimeout)$/.test(name))]`;
    assert.deepEqual((await run(source, PATIENCE_MS)).output, [[], []]);
  });

  it('cannot reach the code that wraps it through the console', async () => {
    const source = 'return console.log.constructor("return typeof process + typeof refuse")()';
    assert.deepEqual((await run(source, PATIENCE_MS)).output, 'undefinedundefined');
  });
});

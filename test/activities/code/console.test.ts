import assert from 'node:assert/strict';
import { createSandbox, type Sandbox } from '../../../activities/code/sandbox.ts';
import type { CodeLog } from '../../../flow/code-log.ts';
import { createLargeJson } from '../../../platform/large-values/large-json.ts';

describe('the console of user code', () => {
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox({ processes: 1, largeJson: createLargeJson() });
  });
  after(() => sandbox.close());

  /** Runs code, which may fail, and returns its console lines. */
  async function logsOf(source: string, timeoutMs = 120_000): Promise<CodeLog[]> {
    let seen: CodeLog[] = [];
    const call = { source, input: null, message: '', parameters: {}, outputs: {}, timeoutMs };
    await sandbox.run('organization', call, undefined, (_, logs) => (seen = logs)).catch(() => undefined);
    return seen;
  }
  const textsOf = async (source: string) => (await logsOf(source)).map(({ text }) => text);

  it('keeps each line with its level, in order', async () => {
    const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;
    const logs = await logsOf(levels.map((level) => `console.${level}('${level} line');`).join('\n'));
    assert.deepEqual(
      logs,
      levels.map((level) => ({ level, text: `${level} line` })),
    );
  });

  const values: [code: string, text: string][] = [
    [`'a', 1, true, null, undefined, 2n`, 'a 1 true null undefined 2n'],
    [`{ a: 1, b: ['x', { c: null }] }`, '{"a": 1, "b": ["x", {"c": null}]}'],
    [`new TypeError('bad')`, 'TypeError: bad'],
    [`[new Date(0), /a+/g, Symbol('s')]`, '[1970-01-01T00:00:00.000Z, /a+/g, Symbol(s)]'],
    [`new Map([['a', 1]]), new Set([2])`, 'Map {"a" => 1} Set {2}'],
    ['function named() {}', '[Function named]'],
    [`new (class Point { x = 1 })()`, 'Point {"x": 1}'],
    [`(() => { const a = {}; a.self = a; return a })()`, '{"self": [Circular]}'],
    ['[[[[[[1]]]]]]', '[[[[[[Array]]]]]]'],
    ['Array(103).fill(0)', `[${Array(100).fill('0').join(', ')}, … 3 more]`],
    [
      `{ get secret() { throw new Error('read') }, toJSON() {} }`,
      '{"secret": [Getter], "toJSON": [Function toJSON]}',
    ],
    [`new Proxy({}, { ownKeys() { throw 1 } })`, '{[unreadable]'],
    [`'NUL \\0, lone \\ud800'`, 'NUL \0, lone \ud800'],
  ];
  for (const [code, text] of values)
    it(`writes ${code.slice(0, 40)}`, async () =>
      assert.deepEqual(await textsOf(`console.log(${code})`), [text]));

  it('writes a failed assertion as an error, and nothing for one that holds', async () => {
    const logs = await logsOf(`console.assert(true, 'no'); console.assert(false, 'yes'); console.assert(0)`);
    assert.deepEqual(logs, [
      { level: 'error', text: 'yes' },
      { level: 'error', text: 'Assertion failed' },
    ]);
  });

  it('has the other functions of a console, which write nothing', async () => {
    const source = `for (const name of ['clear', 'count', 'countReset', 'groupEnd', 'time', 'timeEnd', 'timeLog'])
      console[name]('a')`;
    assert.deepEqual(await logsOf(source), []);
  });

  for (const [ending, source, timeoutMs] of [
    ['throws', `throw new Error('end')`, 30_000],
    ['takes too long', 'for (;;);', 300],
    ['returns a value that is not JSON', 'return () => 1', 30_000],
    ['needs too much memory', `const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)`, 30_000],
  ] as const)
    it(`keeps the lines of code that ${ending}`, async () =>
      assert.deepEqual(await logsOf(`console.log('began'); ${source}`, timeoutMs), [
        { level: 'log', text: 'began' },
      ]));

  it('keeps the first and the last of many lines, and says how many are left out between', async () => {
    const logs = await logsOf('for (let i = 0; i < 5000; i++) console.log(i)');
    assert.equal(logs.length, 1_000);
    assert.deepEqual([logs[0]?.text, logs[499]?.text], ['0', '499']);
    assert.deepEqual(logs[500], { level: 'log', text: '4500', omittedBefore: 4_000 });
    assert.equal(logs[999]?.text, '4999');
  });

  it('cuts a line to 8,192 characters, and ends it with how many are cut', async () => {
    const marked = (text: string, cut: string) => [`${text}… [characters cut: ${cut}]`];
    const xs = 'x'.repeat(8_192);
    assert.deepEqual(await textsOf(`console.log('x'.repeat(8192))`), [xs]);
    assert.deepEqual(await textsOf(`console.log('x'.repeat(1e6))`), marked(xs, '991808'));
    assert.deepEqual(await textsOf(`console.log('x'.repeat(8192), 'y')`), marked(xs, '2'));
    // Values after the cut are not formatted, so that a line takes bounded time.
    assert.deepEqual(await textsOf(`console.log('x'.repeat(8193), {})`), marked(xs, 'at least 2'));
    assert.deepEqual(
      await textsOf(`console.log(['x'.repeat(1e6), 'y'])`),
      marked(`["${xs.slice(2)}`, 'at least 991812'),
    );
    const [escaped] = await textsOf(`console.log('\\0'.repeat(8192))`);
    assert.deepEqual([escaped], marked('\0'.repeat(2_048), '6144'));
  });

  it('keeps lines of at most 64 KB as JSON', async () => {
    for (const character of ['x', '\\0', '\u2028']) {
      const logs = await logsOf(`for (let i = 0; i < 100; i++) console.log('${character}'.repeat(8192))`);
      assert.ok(logs.length > 1);
      assert.ok(JSON.stringify(logs).length <= 64 * 1024, `${JSON.stringify(logs).length}`);
    }
  });

  it('cannot be broken by changed prototypes', async () => {
    const source = `
      const boom = () => { throw new Error('called') };
      for (const owner of [Array, Object, String, Map, Function])
        for (const name of Object.getOwnPropertyNames(owner.prototype))
          if (name !== 'constructor' && name !== '__proto__') try { owner.prototype[name] = boom } catch {}
      JSON.stringify = boom; Reflect.apply = boom; Object.keys = boom; globalThis.String = boom;
      Object.defineProperty(Array.prototype, 0, { set: boom });
      console.log('text', { a: [1] })`;
    assert.deepEqual(await textsOf(source), ['text {"a": [1]}']);
  });

  it('keeps nothing for the next call', async () => {
    await logsOf(`console.log('first')`);
    assert.deepEqual(await logsOf(''), []);
  });
});

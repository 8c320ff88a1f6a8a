// The line of an error in a code block is right, or left out.
import assert from 'node:assert/strict';
import { prepareMachine } from '../../../activities/code/machine.ts';

describe('the line of an error in code', () => {
  const cases: [source: string, line: number | undefined][] = [
    ['const x = {\n  a: 1,\n  b: input.foo.bar,\n};\nreturn x;', 3],
    ['const y =\n  null;\nreturn y\n  .foo\n  .bar;', 4],
    ['return [1].map((x) => {\n  return x.y.z;\n});', 2],
    ['return `a\n${input.foo.bar}\nb`;', 2],
    ['const key = "foo";\nreturn null\n  [key];', undefined],
    ['const a = 1;\nif (a > 2) return null.foo;\nreturn null\n .foo;', undefined],
    ['await 1;\nconst { a } =\n  null;', undefined],
    ['for (const x of\n  5) {}', undefined],
    ['const f =\n  1 +\n  g;\nconst g = 1;', undefined],
    ['const t = `abc\nreturn t;', undefined],
    ['/* open\nreturn 1;', undefined],
    ['return 1 +\n  missing;', 2],
    ['return input\n  .map((x) => x);', 2],
    ['class A {\n  get x() { throw new TypeError("t"); }\n}\nreturn new A().x', 2],
    ['const a = 1;\n\nreturn missing;', 3],
    ['const a = `one\ntwo ${missing}\nthree`;\nreturn a;', 2],
    ['if (input === "other") return missing;\nreturn [\n  missing,\n];', undefined],
    ['const a = {};\na.go(\n  1,\n);', undefined],
    ['return JSON.parse(\n  "{x",\n);', undefined],
    ['return "x".repeat(\n  -1\n);', undefined],
    ['Object.defineProperty(1, "x", {\n  value: 1,\n});', undefined],
    ['const a = 1;\nreturn eval("1;\\n2;\\n3;\\nthrow new Error(4)");', 2],
    ['const a = 1;\nreturn new Function("\\n\\n\\nthrow new Error(4)")();', 2],
    ['async function f() {\n  await null;\n  throw new Error("x");\n}\nawait f();', 3],
    ['const a = 1;\nawait Promise.reject(new Error("x"));\nreturn a;', 2],
    ['function* g() {\n  yield 1;\n  throw new Error("x");\n}\nreturn [...g()];', 3],
    ['const a = 1;\r\nconst b = 2;\r\nthrow new Error("x")', 3],
    ['throw new Error(\n  "x",\n);', 1],
    ['return outputs.other.items;', 1],
  ];
  for (const [source, line] of cases)
    it(`${JSON.stringify(source)}: ${line ?? 'left out'}`, async () => {
      const machine = await prepareMachine();
      const values = JSON.stringify({ input: 'text', message: '', parameters: {} });
      const result = machine.run({ source, values, timeoutMs: 5_000, outputMaxBytes: 1_000 });
      assert.ok('failure' in result);
      const told = / \(line (\d+)\)$/.exec(result.failure.message)?.[1];
      assert.equal(told, line?.toString());
    });
});

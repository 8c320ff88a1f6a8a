import assert from 'node:assert/strict';
import { findCodeProblem } from '../../../platform/javascript/read-code.ts';

describe('findCodeProblem', () => {
  const cases: [rule: string, source: string, problem: RegExp | undefined][] = [
    ['accepts the body of an async function', 'const x = await input;\nreturn x;', undefined],
    ['accepts sloppy code', 'var let_ = 010; return let_;', undefined],
    ['names the line in the code', 'const a = 1\nconst b = ;', /^SyntaxError: .*\(line 2 of the code\)\.$/],
    [
      'names no line of what is not closed',
      'if (input) {\n  return 1;\n',
      /ends before all that it opens is closed/,
    ],
    ['refuses code that closes the function', 'return 1 }); (async function () {', /closes a brace/],
    ['refuses what only a module may hold', 'import x from "y";', /import statement/],
  ];
  for (const [rule, source, problem] of cases)
    it(rule, () => {
      const found = findCodeProblem(source);
      if (problem) assert.match(found?.message ?? '', problem);
      else assert.equal(found, undefined);
    });

  it('tells the line and the column of what is wrong, where there is one', () => {
    for (const [source, line, column] of [
      ['const a = 1\nconst b = ;', 2, 11],
      ['const b = ;', 1, 11],
      ['\n\n  return (1 + );', 3, 15],
      ['if (input) {\n  return 1;\n', undefined, undefined],
    ] as const) {
      const found = findCodeProblem(source);
      assert.deepEqual([found?.line, found?.column], [line, column], source);
    }
  });

  it('survives code nested so deeply that no parser has the stack for it', () => {
    for (const source of ['['.repeat(100_000), `a${'()'.repeat(100_000)}`])
      assert.match(findCodeProblem(source)?.message ?? '', /nested too deeply/);
  });
});

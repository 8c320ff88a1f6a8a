// Each problem of a flow file is reported with its path and line.
import assert from 'node:assert/strict';
import type { FileProblem } from '../../../api/flows/file-problems.ts';
import { parseUsableFlowFile } from '../../../api/flows/flow-file.ts';
import { ServiceError } from '../../../flow/errors.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { refusal, yaml } from './flow-file-fixture.ts';

describe('parseFlowFile', () => {
  const pass = 'processor_type: passthrough';
  const refused: [what: string, text: string, path: string, line: number, message: RegExp][] = [
    ['an unknown field', yaml(`  - ${pass}\n    promt: x`), 'steps[0].promt', 5, /not allowed here/],
    [
      'code outside the prompt of its block',
      yaml('  - processor_type: code\n    processor_config:\n      code: return 1'),
      'steps[0].processor_config.code',
      6,
      /code block is its prompt/,
    ],
    ['a missing field', yaml('  - name: a'), 'steps[0].processor_type', 4, /required/],
    [
      'text that no database column holds',
      yaml(`  - ${pass}\n    name: "a\\0b"`),
      'steps[0].name',
      5,
      /U\+0000/,
    ],
    ['a wrong type', yaml(`  - ${pass}\n  - ${pass}\n    prompt: 5`), 'steps[1].prompt', 6, /must be text/],
    [
      'an unknown step type',
      yaml(`  - type: fork\n    ${pass}`),
      'steps[0].type',
      4,
      /sequential, parallel or loop/,
    ],
    [
      'branches without a type',
      yaml(`  - branches: {}\n    ${pass}`),
      'steps[0].branches',
      4,
      /type: parallel/,
    ],
    ['a bad step_id', yaml(`  - ${pass}\n    step_id: a b`), 'steps[0].step_id', 5, /letters, digits/],
    [
      'an integer whose digits would be changed',
      yaml(`  - ${pass}\n    outputSchema:\n      const: 9007199254740993`),
      'steps[0].outputSchema.const',
      6,
      /9007199254740993.*in quotes/,
    ],
    [
      'an integer with a point whose digits would be changed',
      yaml(`  - ${pass}\n    outputSchema:\n      const: 9007199254740993.0`),
      'steps[0].outputSchema.const',
      6,
      /9007199254740993\.0.*in quotes/,
    ],
    ['a bad slug', `name: x\nslug: A b\nsteps: []`, 'slug', 2, /lower-case/],
    [
      'a schema that is none',
      yaml(`  - ${pass}\n    inputSchema: 5`),
      'steps[0].inputSchema',
      5,
      /object or a boolean/,
    ],
    [
      'a bound',
      yaml(`  - ${pass}\n    processor_config:\n      temperature: 3`),
      'steps[0].processor_config.temperature',
      6,
      /at most 2/,
    ],
    [
      'a loop without end',
      yaml(`  - type: loop\n    max_iterations: 2000\n    body: [{ ${pass} }]`),
      'steps[0].max_iterations',
      5,
      /1000/,
    ],
    ['a duplicate key', yaml(`  - ${pass}\n    name: a\n    name: b`), 'steps[0].name', 6, /twice/],
    [
      'a key with a tag',
      yaml(`  - ${pass}\n    outputSchema: { !!int 5: x }`),
      'steps[0].outputSchema',
      5,
      /must be text/,
    ],
    [
      'a key that is not text',
      yaml(`  - ${pass}\n    outputSchema: { ? [a] : b }`),
      'steps[0].outputSchema',
      5,
      /must be text/,
    ],
    ['an unquoted variable', yaml(`  - ${pass}\n    prompt: {{message}}`), 'steps[0].prompt', 5, /in quotes/],
    [
      'an unquoted text with a colon',
      yaml(`  - ${pass}\n    prompt: Sum up: {{message}}`),
      'steps[0].prompt',
      5,
      /in quotes/,
    ],
    ['a processor_type as type', yaml('  - type: llm'), 'steps[0].type', 4, /write processor_type: llm/],
    ['a misspelt field', yaml(`  - ${pass}\n    promt: x`), 'steps[0].promt', 5, /Did you mean prompt\?/],
    ['an alias', yaml(`  - &a { ${pass} }\n  - *a`), 'steps[1]', 5, /Aliases/],
    [
      'a number JSON lacks',
      yaml(`  - ${pass}\n    outputSchema: { const: .nan }`),
      'steps[0].outputSchema.const',
      5,
      /JSON number/,
    ],
    [
      'binary data',
      yaml(`  - ${pass}\n    outputSchema: { const: !!binary aGk= }`),
      'steps[0].outputSchema.const',
      5,
      /JSON value/,
    ],
    ['an unknown tag', yaml(`  - ${pass}\n    name: !js/function x`), 'steps[0].name', 5, /tag/],
    [
      'a __proto__ key',
      yaml(`  - ${pass}\n    __proto__: { a: 1 }`),
      'steps[0].__proto__',
      5,
      /not accepted/,
    ],
    ['a second document', `${yaml(`  - ${pass}`)}\n---\nname: b`, '', 5, /multiple documents/],
    ['a tab', yaml(`  - ${pass}\n\tname: a`), '', 5, /Tabs/],
    [
      'depth',
      yaml(`  - ${pass}\n    outputSchema: ${'{a: '.repeat(150)}1${'}'.repeat(150)}`),
      'steps[0].outputSchema',
      5,
      /deeply/,
    ],
    ['no file at all', '', '', 1, /must be a JSON object/],
  ];
  for (const [what, text, at, line, message] of refused)
    it(`refuses ${what} at its path and line`, () => {
      const { code, problems } = refusal(text);
      assert.equal(code, 'VALIDATION_ERROR');
      assert.equal(problems[0]?.path, at);
      assert.match(problems[0].message, message);
      assert.equal(problems[0].line, line);
    });

  it('refuses a tree that cannot run with INVALID_TREE, at the line of the step', () => {
    const { code, problems } = refusal(
      yaml(`  - type: parallel\n    branches:\n      a:\n        - processor_type: llm\n`),
    );
    assert.equal(code, 'INVALID_TREE');
    assert.deepEqual(
      problems.map(({ path: at, line }) => [at, line]),
      [
        ['steps[0].branches.a[0].model', 7],
        ['steps[0].branches.a[0].prompt', 7],
      ],
    );
  });

  it('finds what is wrong with shape, tree, code, variables, models and schemas at once, in the order of the lines', async () => {
    const text = yaml(`  - { name: Code, processor_type: code, prompt: "return {" }
  - name: Ask
    promt: x
    processor_type: llm
  - name: Say
    processor_type: llm
    model: nobody/model
    prompt: "Hello {{ mesage }} {{parameters.user.name}}"
    outputSchema: { type: strnig }
  - type: loop
    body:
      - processor_type: code
        step_id: inner
        prompt: |
          const a = 1;
          let a = 2;
      - { processor_type: pass }
`);
    const validator = createValidator();
    try {
      const check = validator.of('organization').requireValidSchema;
      const error = await parseUsableFlowFile(text, 'yaml', check).catch((error: unknown) => error);
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, 'VALIDATION_ERROR');
      const found = (error.extra.problems as FileProblem[]).map((problem) => [problem.line, problem.path]);
      assert.deepEqual(found, [
        [4, 'steps[0].prompt'],
        [5, 'steps[1].model'],
        [6, 'steps[1].promt'],
        [10, 'steps[2].model'],
        [11, 'steps[2].prompt'],
        [12, 'steps[2].outputSchema'],
        [17, 'steps[3].body[0].prompt'],
        [20, 'steps[3].body[1].processor_type'],
      ]);
      assert.match(
        error.message,
        /There is no variable \{\{ mesage \}\} \(did you mean \{\{message\}\}\?\):/,
      );
      assert.match(error.message, /"nobody\/model" is not a known model/);
      assert.match(error.message, /'a' has already been declared \(line 2 of the code\)/);
    } finally {
      await validator.close();
    }
  });

  it('refuses a file that is too large or too deep without running out of stack', () => {
    assert.equal(refusal(`# ${'x'.repeat(2 * 1024 * 1024)}`).code, 'VALIDATION_ERROR');
    assert.match(refusal('['.repeat(20_000)).problems[0]?.message ?? '', /deeply/);
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    assert.match(refusal(deep, 'json').problems[0]?.message ?? '', /deeply/);
  });
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import {
  type FileProblem,
  type FlowFileFormat,
  findSchemaProblems,
  formatFlowFile,
  parseFlowFile,
} from '../../api/flow-definition.ts';
import { flowFileJsonSchema, SCHEMA_FILE } from '../../api/flow-file-schema.ts';
import type { Json, Step } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { createValidator } from '../../json-schema/validator.ts';

const ROOT = path.join(import.meta.dirname, '../..');

function yaml(steps: string): string {
  return `name: Flow\nslug: flow\nsteps:\n${steps}`;
}

/** What parsing refuses. */
function refusal(text: string, format: FlowFileFormat = 'yaml'): { code: string; problems: FileProblem[] } {
  try {
    parseFlowFile(text, format);
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    return { code: error.code, problems: (error.extra.problems as FileProblem[] | undefined) ?? [] };
  }
  throw new Error('It was accepted.');
}

describe('parseFlowFile', () => {
  it('fills in type, step_id, name and max_iterations, and gives unique step_ids that stay the same', () => {
    const text = yaml(`
  - { name: Étude & Scherzo!, processor_type: passthrough }
  - { name: Sum up, processor_type: passthrough, step_id: other }
  - { name: Sum up, processor_type: passthrough }
  - { step_id: sum-up-2, processor_type: passthrough }
  - { name: Sum up, processor_type: passthrough }
  - { name: constructor, processor_type: passthrough }
  - type: loop
    body: [{ processor_type: passthrough }]
`);
    const { steps } = parseFlowFile(text, 'yaml');
    assert.deepEqual(
      steps.map((step) => [step.type, step.step_id, step.name]),
      [
        ['sequential', 'tude-scherzo', 'Étude & Scherzo!'],
        ['sequential', 'other', 'Sum up'],
        ['sequential', 'sum-up', 'Sum up'],
        ['sequential', 'sum-up-2', 'sum-up-2'],
        ['sequential', 'sum-up-3', 'Sum up'],
        ['sequential', 'constructor-2', 'constructor'],
        ['loop', 'loop', 'loop'],
      ],
    );
    const loop = steps[6];
    assert.ok(loop?.type === 'loop');
    assert.equal(loop.max_iterations, 100);
    assert.equal(loop.body[0]?.step_id, 'passthrough');
    assert.deepEqual(parseFlowFile(text, 'yaml').steps, steps);
  });

  const pass = 'processor_type: passthrough';
  const refused: [what: string, text: string, path: string, line: number, message: RegExp][] = [
    ['an unknown field', yaml(`  - ${pass}\n    promt: x`), 'steps[0].promt', 5, /no such field/],
    ['a missing field', yaml('  - name: a'), 'steps[0].processor_type', 4, /required/],
    [
      'text that no database column holds',
      yaml(`  - ${pass}\n    name: "a\\0b"`),
      'steps[0].name',
      5,
      /U\+0000/,
    ],
    [
      'a wrong type',
      yaml(`  - ${pass}\n  - ${pass}\n    prompt: 5`),
      'steps[1].prompt',
      6,
      /expected string/,
    ],
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
      /<=2/,
    ],
    [
      'a loop without end',
      yaml(`  - type: loop\n    max_iterations: 2000\n    body: [{ ${pass} }]`),
      'steps[0].max_iterations',
      5,
      /1000/,
    ],
    ['a duplicate key', yaml(`  - ${pass}\n    name: a\n    name: b`), '', 6, /twice/],
    ['an alias', yaml(`  - &a { ${pass} }\n  - *a`), '', 5, /Aliases/],
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
    ['an unknown tag', yaml(`  - ${pass}\n    name: !js/function x`), '', 5, /tag/],
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
    ['no file at all', '', '', 1, /expected object/],
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

  it('reads JSON strictly: syntax, duplicate keys and lines', () => {
    const valid = JSON.stringify({ $schema: 'x', name: 'a', slug: 'a', steps: [] });
    assert.deepEqual(parseFlowFile(valid, 'json'), { name: 'a', slug: 'a', steps: [] });
    assert.match(refusal('name: a', 'json').problems[0]?.message ?? '', /^Not valid JSON: /);
    assert.equal(refusal('{"name":"a",\n"slug":"a","steps":[],\n"name":"b"}', 'json').problems[0]?.line, 3);
    const [problem] = refusal('{\n\t"name": "a",\n\t"slug": "a",\n\t"steps": [{}]\n}', 'json').problems;
    assert.deepEqual([problem?.path, problem?.line], ['steps[0].processor_type', 4]);
    const proto = '{"name":"a","slug":"a","steps":[{"type":"parallel","branches":{"__proto__":[]}}]}';
    assert.equal(refusal(proto, 'json').problems[0]?.path, 'steps[0].branches.__proto__');
  });

  it('refuses what is too large or too deep without running out of stack', () => {
    assert.equal(refusal(`# ${'x'.repeat(2 * 1024 * 1024)}`).code, 'VALIDATION_ERROR');
    assert.match(refusal('['.repeat(20_000)).problems[0]?.message ?? '', /deeply/);
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    assert.match(refusal(deep, 'json').problems[0]?.message ?? '', /deeply/);
  });
});

describe('formatFlowFile', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text));
  const prompt = fc.string({ unit: 'binary', minLength: 1 });
  const schema = fc
    .dictionary(name, fc.jsonValue({ maxDepth: 2 }))
    .map(
      (value) =>
        JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')) as { [key: string]: Json },
    );
  for (const format of ['yaml', 'json'] as const)
    it(`writes ${format} that reads as the same flow, whatever text it holds`, () => {
      fc.assert(
        fc.property(name, prompt, schema, (name, prompt, outputSchema) => {
          const block = { type: 'sequential', name, processor_type: 'code', prompt, outputSchema } as const;
          const steps: Step[] = [
            { ...block, step_id: 'a' },
            { type: 'parallel', step_id: 'p', name, branches: { [name]: [{ ...block, step_id: 'b' }] } },
          ];
          const file = { name, slug: 'flow', steps };
          assert.deepEqual(parseFlowFile(formatFlowFile(file, format), format), file);
        }),
      );
    });
});

describe('findSchemaProblems', () => {
  it('names the block whose schema is wrong', async () => {
    const validator = createValidator();
    const { steps } = parseFlowFile(
      yaml(`
  - { step_id: a, processor_type: passthrough, inputSchema: { type: object } }
  - { step_id: b, processor_type: passthrough, outputSchema: { type: strnig } }`),
      'yaml',
    );
    const problems = await findSchemaProblems({ steps }, validator.check);
    await validator.close();
    assert.deepEqual(
      problems.map((problem) => problem.path),
      ['steps[1].outputSchema'],
    );
  });
});

describe('flow files of this repository', () => {
  it('docs/flow-file.schema.json is what the service validates with', () => {
    assert.equal(readFileSync(SCHEMA_FILE, 'utf8'), flowFileJsonSchema());
  });

  const examples = path.join(ROOT, 'examples');
  for (const name of readdirSync(examples).filter((each) => each.endsWith('.yaml')))
    it(`examples/${name} can be imported, and editors find its schema`, async () => {
      const text = readFileSync(path.join(examples, name), 'utf8');
      const { slug, steps } = parseFlowFile(text, 'yaml');
      const validator = createValidator();
      assert.deepEqual(await findSchemaProblems({ steps }, validator.check), []);
      await validator.close();
      assert.equal(`${slug}.yaml`, name);
      assert.match(text, /^# yaml-language-server: \$schema=\.\.\/docs\/flow-file\.schema\.json\n/);
    });

  it('docs/flow-file.md holds examples that can be imported', () => {
    const text = readFileSync(path.join(ROOT, 'docs/flow-file.md'), 'utf8');
    const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
    assert.ok(examples.length >= 5);
    for (const example of examples)
      parseFlowFile(example.startsWith('name:') ? example : yaml(example), 'yaml');
  });
});

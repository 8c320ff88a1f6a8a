import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findSchemaProblems } from '../../../api/flows/file-problems.ts';
import { formatFlowFile, parseFlowFile } from '../../../api/flows/flow-file.ts';
import type { Json, Step } from '../../../flow/definition.ts';
import { createValidator } from '../../../platform/json-schema/validator.ts';
import { refusal, yaml } from './flow-file-fixture.ts';

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
        ['sequential', 'constructor', 'constructor'],
        ['loop', 'loop', 'loop'],
      ],
    );
    const loop = steps[6];
    assert.ok(loop?.type === 'loop');
    assert.equal(loop.max_iterations, 100);
    assert.equal(loop.body[0]?.step_id, 'passthrough');
    assert.deepEqual(parseFlowFile(text, 'yaml').steps, steps);
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
});

describe('formatFlowFile', () => {
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text));
  const prompt = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({ unit: fc.constantFrom('\n', ' ', '\t'), minLength: 1, maxLength: 6 }),
    // Blank lines, and what has a meaning in YAML.
    fc.string({
      unit: fc.constantFrom('\n', ' ', '\t', 'a', '#', '- ', ': ', '|'),
      minLength: 1,
      maxLength: 6,
    }),
  );
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
          const block = {
            type: 'sequential',
            name,
            processor_type: 'passthrough',
            prompt,
            outputSchema,
          } as const;
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
    const problems = await findSchemaProblems({ steps }, validator.of('organization').requireValidSchema);
    await validator.close();
    assert.deepEqual(
      problems.map((problem) => problem.path),
      [['steps', 1, 'outputSchema']],
    );
  });
});

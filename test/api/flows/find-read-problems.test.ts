// Outputs of steps that a block asks for and cannot get are found when a flow is imported.
import assert from 'node:assert/strict';
import { parseFlowFile } from '../../../api/flows/flow-file.ts';
import { refusal, yaml } from './flow-file-fixture.ts';

const STEPS = `  - { name: Extract, processor_type: passthrough }
  - name: Views
    type: parallel
    branches:
      one:
        - { name: First, processor_type: passthrough }
        - name: Second
          processor_type: llm
          model: demo/chat
          prompt: PROMPT
      two:
        - { name: Beside, processor_type: passthrough }
  - { name: Later, processor_type: passthrough }
`;
const problemsOf = (prompt: string) => {
  const text = yaml(STEPS.replace('PROMPT', JSON.stringify(prompt)));
  return refusal(text).problems.map(({ line, path, message }) => ({ line, path, message }));
};

describe('findReadProblems', () => {
  const refused: [what: string, prompt: string, message: RegExp][] = [
    ['a misspelt step', '{{steps.extarct.items}}', /no step extarct\. Did you mean extract\?$/],
    ['a step of another name', '{{steps.nobody}}', /no step nobody\. The steps .*: extract, first\.$/],
    ['a step beside the block', '{{steps.beside}}', /the step beside has not ended before/],
    ['a later step', '{{steps.later}}', /the step later has not ended before/],
    ['the block itself', '{{steps.second}}', /the step second has not ended before/],
    ['the step around the block', '{{steps.views}}', /the step views has not ended before/],
    ['a misspelt variable', '{{mesage}}', /\{\{mesage\}\} \(did you mean \{\{message\}\}\?\)/],
  ];
  for (const [what, prompt, message] of refused)
    it(`refuses ${what} at its line and path`, () => {
      const [problem, ...others] = problemsOf(prompt);
      assert.deepEqual([problem?.line, problem?.path], [13, 'steps[1].branches.one[1].prompt']);
      assert.match(problem?.message ?? '', message);
      assert.deepEqual(others, []);
    });

  it('says for 10 unknown steps of a flow which were meant, and for the others which there are', () => {
    const unknown = (block: number) =>
      Array.from({ length: 10 }, (_, at) => `{{steps.extract${block}${at}}}`).join(' ');
    const asks = [1, 2].map(
      (block) =>
        `  - { name: Ask ${block}, processor_type: llm, model: demo/chat, prompt: "${unknown(block)}" }\n`,
    );
    const { problems } = refusal(
      yaml(`  - { name: Extract, processor_type: passthrough }\n${asks.join('')}`),
    );
    const count = (text: RegExp) => problems.filter(({ message }) => text.test(message)).length;
    assert.deepEqual(
      [count(/Did you mean extract\?$/), count(/can be read here: extract/), problems.length],
      [10, 10, 20],
    );
  });

  const codeFlow = (source: string) =>
    yaml(`  - { name: Extract, processor_type: passthrough }
  - name: Code
    processor_type: code
    prompt: ${JSON.stringify(source)}
`);
  for (const source of [
    'return outputs.extarct.items;',
    "return [Object.keys(outputs).length, outputs.extarct ?? 'none']",
    'const { extract, extarct } = outputs; return extarct',
  ])
    it(`refuses a step that code names and cannot see: ${source}`, () => {
      const [problem, ...others] = refusal(codeFlow(source)).problems;
      assert.deepEqual([problem?.line, problem?.path], [7, 'steps[1].prompt']);
      assert.match(problem?.message ?? '', /^outputs\.extarct: .*Did you mean extract\?/);
      assert.deepEqual(others, []);
    });

  for (const source of [
    'return `See outputs.md for step ${outputs.extract}`',
    'return /outputs.rrr/.source',
    'const { outputs: z } = input; return z.foo',
  ])
    it(`accepts code that names no other step: ${source}`, () => {
      assert.equal(parseFlowFile(codeFlow(source), 'yaml').steps.length, 2);
    });

  it('finds the output of a step that is wrong in another way', () => {
    const { problems } = refusal(
      yaml(`  - { name: Extract, processor_type: passthrough, promt: x }
  - { step_id: other, processor_type: nothing }
  - { name: Ask, processor_type: llm, model: demo/chat, prompt: "{{steps.extract}} {{steps.other}}" }
`),
    );
    assert.deepEqual(
      problems.map(({ path }) => path),
      ['steps[0].promt', 'steps[1].processor_type'],
    );
  });

  it('lists the steps before a block whose step_id another step has too', () => {
    const { problems } = refusal(
      yaml(`  - { step_id: extract, processor_type: passthrough, promt: x }
  - { step_id: extract, processor_type: llm, model: demo/chat, prompt: "{{steps.later}}" }
  - { step_id: later, processor_type: passthrough }
`),
    );
    assert.match(problems[2]?.message ?? '', /the step later has not ended .*can be read here: extract\.$/);
    assert.equal(problems.length, 3);
  });
});

// A wrong part of a flow file keeps no other problem from being found.
import assert from 'node:assert/strict';
import { refusal, yaml } from './flow-file-fixture.ts';

describe('mendFlowFile', () => {
  it('finds the other problems of a step that has the wrong shape, and none that follow from it', () => {
    const { problems } = refusal(
      yaml(`  - { name: A, processor_type: LLM, promt: "{{parameters}}" }
  - { name: B, processor_type: llm, model: gpt-4o, prompt: 5 }
  - { name: C, processor_type: code, prompt: return outputs.nowhere, processor_config: { timeout_ms: 60000, x: 1 } }
  - type: lop
    max_iterations: 5000
    until: { pointer: done, equals: 1 }
    body:
      - { processor_type: llm, model: foo/bar, prompt: {{message}} }
      - { processor_type: code, code: "return {" }
  - branches:
      a: [{ processor_type: passthrough, nmae: x, name: y, name: z }]
      b: 5
  - { type: parallel, processor_type: llm, body: [], branches: { a: [5] } }
  - { type: loop, until: { pointer: 5 }, body: 5 }
  - { processor_type: passthrough, inputSchema: { enum: [.nan] }, outputSchema: 5 }
`),
    );
    assert.deepEqual(
      problems.map(({ line, path }) => `${line} ${path}`),
      [
        '4 steps[0].processor_type',
        '4 steps[0].promt',
        '4 steps[0].model',
        '4 steps[0].prompt',
        '5 steps[1].prompt',
        '5 steps[1].model',
        '6 steps[2].processor_config.x',
        '6 steps[2].processor_config.timeout_ms',
        '6 steps[2].prompt',
        '7 steps[3].type',
        '8 steps[3].max_iterations',
        '9 steps[3].until.pointer',
        '11 steps[3].body[0].prompt',
        '11 steps[3].body[0].model',
        '12 steps[3].body[1].code',
        '12 steps[3].body[1].prompt',
        '13 steps[4].branches',
        '14 steps[4].branches.a[0].name',
        '14 steps[4].branches.a[0].nmae',
        '15 steps[4].branches.b',
        '16 steps[5].branches.a[0]',
        '16 steps[5].body',
        '16 steps[5].processor_type',
        '17 steps[6].body',
        '17 steps[6].until.pointer',
        '17 steps[6].until.equals',
        '18 steps[7].inputSchema.enum[0]',
        '18 steps[7].outputSchema',
      ],
    );
  });
});

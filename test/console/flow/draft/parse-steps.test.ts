import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseSteps } from '../../../../console/flow/draft/parse-steps.ts';
import { trees } from '../arbitrary-steps.ts';

describe('pasted steps', () => {
  it('are the copied ones', async () => {
    await fc.assert(
      fc.asyncProperty(trees, async (steps) => {
        assert.deepEqual(await parseSteps(JSON.stringify(steps)), steps);
      }),
    );
  });

  it('may be one step, or a YAML flow file with its defaults', async () => {
    const [one] = await parseSteps('{"processor_type": "passthrough", "name": "Keep it"}');
    assert.deepEqual(one, {
      type: 'sequential',
      step_id: 'keep-it',
      name: 'Keep it',
      processor_type: 'passthrough',
    });
    const file = 'name: F\nslug: f\nsteps:\n  - type: loop\n    body:\n      - processor_type: passthrough\n';
    const [loop] = await parseSteps(file);
    assert.deepEqual(loop, {
      type: 'loop',
      step_id: 'loop',
      name: 'loop',
      max_iterations: 100,
      body: [
        {
          type: 'sequential',
          step_id: 'sequential',
          name: 'sequential',
          processor_type: 'passthrough',
        },
      ],
    });
  });

  for (const text of [
    '',
    'hello',
    '[]',
    '{"a": 1}',
    '{"steps": []}',
    '{"type": "loop", "body": []}',
    '- - -',
    '&a [*a]',
  ])
    it(`are refused with a sentence: ${JSON.stringify(text)}`, async () => {
      await assert.rejects(parseSteps(text), /The clipboard holds no steps/);
    });

  for (const number of ['9007199254740993', '-9007199254740993.0', '9.007199254740993e15'])
    it(`are refused where they hold a number that would be rounded: ${number}`, async () => {
      const json = `{"processor_type": "passthrough", "inputSchema": {"const": ${number}}}`;
      const yaml = `- processor_type: passthrough\n  inputSchema: { const: ${number} }\n`;
      for (const text of [json, yaml])
        await assert.rejects(parseSteps(text), /^Error: The digits of .* would be changed/);
    });

  it('keep whole numbers that are exact, and digits in texts', async () => {
    const inputSchema = { enum: [9007199254740994, 1e21, 0.1], title: '9007199254740993' };
    const steps = [{ processor_type: 'passthrough', inputSchema }];
    assert.partialDeepStrictEqual(await parseSteps(JSON.stringify(steps)), steps);
    assert.partialDeepStrictEqual(
      await parseSteps(
        '- processor_type: passthrough\n  inputSchema: { enum: [9007199254740994, 1e21, 0.1], title: "9007199254740993" }\n',
      ),
      steps,
    );
  });
});

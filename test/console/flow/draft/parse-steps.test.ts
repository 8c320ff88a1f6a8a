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
});

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { locateProblem } from '../../../../console/flow/draft/problems.ts';
import type { FlowDefinition } from '../../../../flow/definition.ts';
import { eachStep, formatPath } from '../../../../flow/step-path.ts';
import { trees } from '../arbitrary-steps.ts';

describe('a problem of a draft', () => {
  it("is found at the step and field of the service's path", () => {
    fc.assert(
      fc.property(trees, (steps) => {
        for (const { step, path } of eachStep({ steps } as FlowDefinition)) {
          const found = locateProblem(steps, { path: formatPath([...path, 'prompt']), message: 'm' });
          assert.deepEqual(found, { stepId: step.step_id, field: 'prompt', message: 'm' });
        }
      }),
    );
  });

  it('is found by the dotted path of a refused field', () => {
    const steps = [
      {
        type: 'loop',
        step_id: 'l',
        name: 'L',
        max_iterations: 1,
        body: [{ type: 'sequential', step_id: 'a', name: 'A', processor_type: 'llm' }],
      },
    ] as const;
    const path = 'steps.0.body.0.processor_config.temperature';
    assert.deepEqual(locateProblem(structuredClone(steps) as never, { path, message: 'm' }), {
      stepId: 'a',
      field: 'processor_config.temperature',
      message: 'm',
    });
  });

  it('names settings as the form does', () => {
    const message = 'Without effect in a code block: processor_config.max_tokens, processor_config.seed.';
    const problem = locateProblem([], { path: 'steps', message });
    assert.equal(problem.message, 'Without effect in a code block: token limit, seed.');
  });

  it('of the flow itself, or of a missing step, has no step', () => {
    assert.equal(locateProblem([], { path: 'steps', message: 'm' }).stepId, undefined);
    assert.equal(locateProblem([], { path: 'steps[4].prompt', message: 'm' }).stepId, undefined);
    assert.equal(locateProblem([], { path: '', message: 'm' }).stepId, undefined);
  });
});

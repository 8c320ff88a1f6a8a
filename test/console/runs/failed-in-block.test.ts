import assert from 'node:assert/strict';
import type { Step } from '../../../console/flow/draft/steps.ts';
import { failedInBlock } from '../../../console/runs/trace/executions.ts';

const STEPS = [
  { type: 'parallel', step_id: 'both', branches: { left: [{ type: 'sequential', step_id: 'a' }] } },
  { type: 'loop', step_id: 'each', body: [{ type: 'sequential', step_id: 'b' }] },
] as unknown as Step[];

describe('a failed run', () => {
  it('failed in a block when its step is one, inside others too', () => {
    assert.equal(failedInBlock({ code: 'CODE_ERROR', step_id: 'a' }, STEPS), true);
    assert.equal(failedInBlock({ code: 'CODE_ERROR', step_id: 'b' }, STEPS), true);
  });
  it('failed in no block when its step is a loop, a parallel step or missing', () => {
    assert.equal(failedInBlock({ code: 'LOOP_INPUT_NOT_ARRAY', step_id: 'each' }, STEPS), false);
    assert.equal(failedInBlock({ code: 'OUTPUT_TOO_LARGE', step_id: 'both' }, STEPS), false);
    assert.equal(failedInBlock({ code: 'CODE_ERROR' }, STEPS), false);
  });
  it('failed in no block as long as its steps are not loaded', () =>
    assert.equal(failedInBlock({ code: 'CODE_ERROR', step_id: 'a' }, undefined), false));
  it("failed before its step's block when it has too many blocks", () =>
    assert.equal(failedInBlock({ code: 'LOOP_LIMIT_EXCEEDED', step_id: 'b' }, STEPS), false));
});

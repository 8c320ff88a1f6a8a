import assert from 'node:assert/strict';
import type { Step } from '../../../../console/flow/draft/steps.ts';
import { inKeyOrder } from '../../../../console/flow/versions/compare-versions.ts';

const write = (steps: object[]) => JSON.stringify(inKeyOrder(steps as Step[]));

describe('inKeyOrder', () => {
  it('writes steps alike that differ only in the order of keys, inside schemas and loops too', () => {
    const block = { step_id: 'a', name: 'A', type: 'sequential', processor_type: 'llm', model: 'demo/chat' };
    const schema = { type: 'object', properties: { x: { type: 'string' }, y: {} } };
    const one = { ...block, prompt: 'Hi', outputSchema: schema };
    const other = {
      outputSchema: { properties: { y: {}, x: { type: 'string' } }, type: 'object' },
      prompt: 'Hi',
      ...Object.fromEntries(Object.entries(block).reverse()),
    };
    assert.notEqual(JSON.stringify(one), JSON.stringify(other));
    assert.equal(write([one]), write([other]));
    const loop = { step_id: 'l', name: 'L', type: 'loop', max_iterations: 3 };
    assert.equal(write([{ ...loop, body: [one] }]), write([{ body: [other], ...loop }]));
  });

  it('keeps the order of steps and of branches', () => {
    const parallel = { step_id: 'p', name: 'P', type: 'parallel', branches: { z: [], a: [] } };
    assert.match(write([parallel]), /"branches":\{"z":\[\],"a":\[\]\}/);
  });
});

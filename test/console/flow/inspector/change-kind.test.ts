import assert from 'node:assert/strict';
import { changeKind, isWithin, withField } from '../../../../console/flow/inspector/change-fields.ts';

const LLM = {
  type: 'sequential',
  step_id: 'a',
  name: 'A',
  processor_type: 'llm',
  model: 'demo/chat',
  prompt: 'Hello',
  outputSchema: { type: 'object' },
  processor_config: { tools_enabled: true, timeout_ms: 1000 },
} as const;

describe('changeKind', () => {
  it('removes fields without effect in the other kind, and keeps the rest', () => {
    assert.deepEqual(changeKind(LLM, 'code'), {
      ...{ type: 'sequential', step_id: 'a', name: 'A', outputSchema: { type: 'object' } },
      ...{ processor_type: 'code', prompt: 'return input;\n', processor_config: { timeout_ms: 1000 } },
    });
    assert.deepEqual(Object.keys(changeKind(LLM, 'passthrough')).sort(), [
      ...['name', 'outputSchema', 'processor_type', 'step_id', 'type'],
    ]);
  });

  it('keeps unknown fields', () => {
    const newer = { ...LLM, newer_field: 1 };
    assert.equal((changeKind(newer, 'code') as unknown as typeof newer).newer_field, 1);
  });
});

describe('withField', () => {
  it('sets a field in its position, and removes it', () => {
    assert.equal(JSON.stringify(withField({ a: 1, b: 2 }, 'a', 3)), '{"a":3,"b":2}');
    assert.deepEqual(withField({ a: 1, b: 2 }, 'a', undefined), { b: 2 });
  });
});

describe('isWithin', () => {
  it('distinguishes a field and its parts from fields whose names begin alike', () => {
    assert.ok(isWithin('prompt', 'prompt'));
    assert.ok(isWithin('branches["a b"][0]', 'branches'));
    assert.ok(isWithin('processor_config.top_p', 'processor_config'));
    assert.ok(!isWithin('prompts', 'prompt'));
  });
});

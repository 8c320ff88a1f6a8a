import assert from 'node:assert/strict';
import type { Block } from '../../flow/definition.ts';
import { applyOverride, type BlockOverrides, findOverrideProblems } from '../../flow/overrides.ts';
import { code, llm } from '../blocks.ts';

const definition = { steps: [llm('ask', 'p', 'demo/chat'), code('work', 'return 1')] };

describe('findOverrideProblems', () => {
  it('lets a caller change the prompt and model of an llm block', () => {
    assert.deepEqual(findOverrideProblems(definition, { ask: { prompt: 'q', model: 'demo/other' } }), []);
  });

  it('names an unknown step', () => {
    assert.deepEqual(
      findOverrideProblems(definition, { other: {} }).map(({ field }) => field),
      ['other'],
    );
  });

  it('never lets a caller replace code', () => {
    assert.deepEqual(findOverrideProblems(definition, { work: { prompt: 'return 2' } }), [
      { field: 'work.prompt', message: 'A code block’s code cannot be overridden.' },
    ]);
  });

  it('refuses a model for a block that has none', () => {
    assert.deepEqual(
      findOverrideProblems(definition, { work: { model: 'demo/chat' } }).map(({ field }) => field),
      ['work.model'],
    );
  });
});

describe('an override that has answers accepted which were cut off', () => {
  const accept = { on_length: 'accept' } as const;
  const fieldsOf = (override: BlockOverrides[string]) =>
    findOverrideProblems(definition, { ask: override }).map(({ field }) => field);

  it('is refused with a schema or tools, be they of the block or of the override', () => {
    const refused = ['ask.processor_config.on_length'];
    assert.deepEqual(fieldsOf({ processor_config: accept }), []);
    assert.deepEqual(fieldsOf({ processor_config: accept, outputSchema: {} }), refused);
    const withSchema = { steps: [llm('ask', 'p', 'demo/chat', { outputSchema: {} })] };
    assert.deepEqual(
      findOverrideProblems(withSchema, { ask: { processor_config: accept } }).map(({ field }) => field),
      refused,
    );
    assert.deepEqual(fieldsOf({ processor_config: { ...accept, tools_enabled: true } }), refused);
  });
});

describe('applyOverride', () => {
  it('merges processor_config and leaves the stored block as it is', () => {
    const block = {
      ...llm('ask', 'p', 'demo/chat'),
      processor_config: { temperature: 1, max_tokens: 5 },
    } as Block;
    const changed = applyOverride(block, { prompt: 'q', processor_config: { max_tokens: 9 } });
    assert.deepEqual(changed.processor_config, { temperature: 1, max_tokens: 9 });
    assert.equal(changed.prompt, 'q');
    assert.equal(block.prompt, 'p');
  });
});

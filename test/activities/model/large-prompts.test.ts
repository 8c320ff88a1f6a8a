// A prompt that a few bytes of a template multiply is measured before it is built, reserved or sent.
import assert from 'node:assert/strict';
import type { Block } from '../../../flow/definition.ts';
import { RENDERED_PROMPT_MAX_CHARS, TOOL_MESSAGES_MAX_BYTES } from '../../../flow/limits.ts';
import { mostOf } from '../../../platform/json-text/measure-json.ts';
import { measurePrompt } from '../../../platform/models/prompt-size.ts';
import { createRegistry } from '../../../platform/models/registry.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const CONTEXT_TOKENS = 128_000;

describe('large prompts', () => {
  const registry = createRegistry();
  const prompt = (template: string, message: string, model = 'openai/gpt-4.1', tools: unknown[] = []) => {
    const block = { step_id: 's', name: 'S', processor_type: 'llm', model, prompt: template } as Block;
    return measurePrompt(
      registry,
      block,
      { message, previousOutput: null, parameters: {}, outputs: {} },
      tools,
    ).build();
  };

  it('fails with PROMPT_TOO_LARGE instead of building 40 times a message of 8 MB', () => {
    const before = process.memoryUsage().heapUsed;
    const message = 'x'.repeat(8_000_000);
    assert.throws(
      () => prompt('{{message}}'.repeat(40), message),
      fails('PROMPT_TOO_LARGE', /320000000 characters.*at most 4194304/),
    );
    assert(process.memoryUsage().heapUsed - before < 100_000_000);
  });

  it('takes a prompt at the limit, and refuses one past it', () => {
    const atLimit = 'x'.repeat(RENDERED_PROMPT_MAX_CHARS / 2);
    assert.equal(prompt('{{message}}{{message}}', atLimit).length, RENDERED_PROMPT_MAX_CHARS);
    assert.throws(() => prompt('{{message}} {{message}}', atLimit), fails('PROMPT_TOO_LARGE', /./));
  });

  it('refuses what is over the context of the model, by the model list', () => {
    const message = 'x'.repeat(CONTEXT_TOKENS * 8);
    assert.equal(prompt('{{message}}', message, 'openai/gpt-4o'), message);
    assert.throws(
      () => prompt('{{message}}!', message, 'openai/gpt-4o'),
      fails('PROMPT_TOO_LARGE', /openai\/gpt-4o, 128000 tokens by the model list/),
    );
  });

  it('refuses one that begins a conversation with tools which no resume could send back', () => {
    const message = 'x'.repeat(TOOL_MESSAGES_MAX_BYTES + 1);
    assert.equal(prompt('{{message}}', message), message);
    assert.throws(
      () => prompt('{{message}}', message, 'openai/gpt-4.1', [{}]),
      fails('PROMPT_TOO_LARGE', /with tools/),
    );
  });

  describe('what is sent again', () => {
    const harness = useAskModel();
    const tools = [{ type: 'function' as const, function: { name: 'find' } }];

    it('does not send an answer back for repair that no prompt could hold', async () => {
      harness.server.will(answer('x'.repeat(RENDERED_PROMPT_MAX_CHARS)));
      await assert.rejects(
        harness.call({ outputSchema: { type: 'object' } }),
        fails('MODEL_OUTPUT_INVALID', /too long to be sent back for a repair/),
      );
      assert.equal(harness.server.calls.length, 1);
    });

    it('does not send an answer back for repair that no later attempt would have', async () => {
      harness.server.will(answer('no'));
      await assert.rejects(
        harness.call({ outputSchema: { type: 'object' } }, undefined, { keepAnswer: () => false }),
        fails('MODEL_OUTPUT_INVALID', /too long to be sent back for a repair/),
      );
      assert.equal(harness.server.calls.length, 1);
    });

    it('fails with MESSAGES_TOO_LARGE where a model asks for tools with more than a resume may send', async () => {
      const long = JSON.stringify({ text: 'x'.repeat(TOOL_MESSAGES_MAX_BYTES) });
      harness.server.will(
        callTools([{ id: 'a', type: 'function', function: { name: 'find', arguments: long } }]),
      );
      await assert.rejects(
        harness.call({}, undefined, { tools }),
        fails('MESSAGES_TOO_LARGE', /a resume may send/),
      );
    });

    it('fails with MESSAGES_TOO_LARGE where what the calls carry is more than a body may hold', async () => {
      const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
      const extra_content = Array(mostOf(TOOL_MESSAGES_MAX_BYTES).values).fill(0);
      harness.server.will(callTools([{ ...call, extra_content }]));
      await assert.rejects(
        harness.call({}, undefined, { tools }),
        fails('MESSAGES_TOO_LARGE', /more than 87381 values/),
      );
    });
  });
});

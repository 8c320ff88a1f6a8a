import assert from 'node:assert/strict';
import { once } from 'node:events';
import { estimateUsage } from '../../../activities/model/estimate-usage.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import type { JsonSchema } from '../../../flow/definition.ts';
import type { ToolCallMessage } from '../../../flow/tool-calls.ts';
import type { Provider } from '../../../platform/config/config.ts';
import { NO_TOKENS } from '../../../platform/models/token-usage.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { answer, hang, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const personSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};
const person = { name: 'Ada', age: 36 };

describe('askModel', () => {
  const harness = useAskModel();

  describe('a call without outputSchema', () => {
    it('sends the prompt under the key and name of the provider and answers with text, usage and cost', async () => {
      const metrics = captureMetrics();
      assert.deepEqual(await harness.callAfter(answer('A mathematician.')), {
        output: 'A mathematician.',
        model: 'openai/gpt-4o-mini',
        ...NO_TOKENS,
        promptTokens: 10,
        completionTokens: 5,
        costMicrocredits: 10 * 15 + 5 * 60,
      });
      const labels = 'gen_ai.provider.name=openai,gen_ai.request.model=gpt-4o-mini';
      const cost = (10 * 15 + 5 * 60) / MICROCREDITS_PER_CREDIT;
      assert.deepEqual(await metrics.read('weir.model.cost'), { [labels]: cost });
      metrics.stop();
      assert.equal(harness.server.calls[0]?.headers.authorization, 'Bearer key-of-the-test');
      assert.deepEqual(harness.server.calls[0]?.body, {
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'Who was Ada?' }],
        stream: false,
      });
    });

    it('sends the key in the header of its provider, with its other headers, and keeps the query string', async () => {
      const { provider } = harness.server;
      const baseUrl = `${provider.baseUrl}/?api-version=1&a=b`;
      const azure = { ...provider, baseUrl, keyHeader: 'api-key', headers: { 'x-team': 'weir' } };
      harness.server.will(answer('Yes.'));
      await harness.call({}, undefined, { begin: async () => azure });
      const [{ headers, url } = assert.fail()] = harness.server.calls;
      assert.equal(url, '/v1/chat/completions?api-version=1&a=b');
      assert.partialDeepStrictEqual(headers, { 'api-key': 'key-of-the-test', 'x-team': 'weir' });
      assert.equal(headers.authorization, undefined);
    });

    it('sends no key to a provider without one, and the headers that it has', async () => {
      const own = { ...harness.server.provider, apiKey: 'none' };
      const others: Provider[] = [
        own,
        { ...own, keyHeader: 'api-key' },
        { ...own, headers: { Authorization: 'Basic YTpi' } },
      ];
      for (const provider of others) {
        harness.server.will(answer('Yes.'));
        await harness.call({}, undefined, { begin: async () => provider });
      }
      const sent = harness.server.calls.map(({ headers }) => [headers.authorization, headers['api-key']]);
      assert.deepEqual(sent, [
        [undefined, undefined],
        [undefined, undefined],
        ['Basic YTpi', undefined],
      ]);
    });

    it('leaves out the fields that the provider refuses, and takes the other limit of tokens', async () => {
      const refusedFields = ['max_completion_tokens', 'seed', 'reasoning_content'];
      const begin = async () => ({ ...harness.server.provider, refusedFields });
      const turn = { role: 'assistant', content: 'Who?', reasoning_content: 'They ask.' } as const;
      harness.server.will(answer('Yes.'));
      await harness.call({ processor_config: { seed: 7, max_tokens: 7 } }, undefined, {
        begin,
        conversation: [{ role: 'user', content: 'Hello' }, turn as ToolCallMessage],
      });
      assert.deepEqual(harness.server.calls[0]?.body, {
        model: 'gpt-4o-mini',
        max_tokens: 7,
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Who?' },
        ],
        stream: false,
      });
    });

    for (const [model, limit] of [
      ['openai/gpt-5', 'max_completion_tokens'],
      ['anthropic/claude-haiku-4-5', 'max_tokens'],
    ] as const) {
      it(`passes temperature, and max_tokens as ${limit} to ${model}`, async () => {
        harness.server.will(answer('Yes.'));
        await harness.call({ model, processor_config: { temperature: 0, max_tokens: 7 } });
        assert.partialDeepStrictEqual(harness.server.calls[0]?.body, { temperature: 0, [limit]: 7 });
      });

      it(`passes what else a block sets to ${model}, and its system message before the prompt`, async () => {
        const settings = { top_p: 0.5, stop: ['END'], seed: 7, reasoning_effort: 'low' as const };
        harness.server.will(answer('Yes.'));
        await harness.call({ model, processor_config: { ...settings, system: 'Be brief.' } });
        const system = { role: 'system', content: 'Be brief.' };
        assert.partialDeepStrictEqual(harness.server.calls[0]?.body, {
          ...settings,
          messages: [system, { role: 'user' }],
        });
      });
    }

    for (const [model, limit] of [
      ['openai/gpt-5', {}],
      ['google/gemini-2.5-pro', {}],
      ['anthropic/claude-haiku-4-5', { max_tokens: 64_000 }],
    ] as const)
      it(`limits an answer of ${model} only where its provider requires it: ${JSON.stringify(limit)}`, async () => {
        harness.server.will(answer('Yes.'));
        await harness.call({ model });
        const {
          model: _,
          messages: _messages,
          stream: _stream,
          ...settings
        } = harness.server.calls[0]?.body ?? {};
        assert.deepEqual(settings, limit);
      });

    for (const usage of [
      null,
      { prompt_tokens: null, completion_tokens: null },
      { prompt_tokens: -1, completion_tokens: 'many' },
    ]) {
      it(`estimates the tokens of an answer whose provider reports ${JSON.stringify(usage)}, and says so`, async () => {
        const text = 'A mathematician who wrote the first program.';
        const reply = await harness.callAfter(answer(text, { usage }));
        const { promptTokens, completionTokens, costMicrocredits, isEstimated } = reply;
        assert.equal(isEstimated, true);
        assert.ok(promptTokens > 5 && promptTokens < 100, `${promptTokens} tokens`);
        assert.ok(completionTokens > 8 && completionTokens < 60, `${completionTokens} tokens`);
        assert.equal(costMicrocredits, promptTokens * 15 + completionTokens * 60);
      });
    }

    it('counts no tokens of an error that came without usage', async () => {
      harness.server.will(respond(200, { error: { message: 'no' } }));
      await assert.rejects(harness.call());
      assert.equal(harness.usage.completionTokens, 0);
    });

    for (const [count, counted] of [
      [10_000_000, 10_000_000],
      [12.5, 13],
      ['12', 12],
    ] as const)
      it(`counts ${JSON.stringify(count)} tokens as ${counted}`, async () => {
        const usage = { prompt_tokens: count, completion_tokens: count };
        const reply = await harness.callAfter(answer('Yes.', { usage }));
        assert.partialDeepStrictEqual(reply, { promptTokens: counted, completionTokens: counted });
      });

    for (const count of [1e308, 2 ** 53, 10_000_001])
      it(`estimates the tokens where ${count} are reported, which no model can read`, async () => {
        const usage = { prompt_tokens: count, completion_tokens: count };
        const reply = await harness.callAfter(answer('Yes.', { usage }));
        assert.equal(reply.isEstimated, true);
        assert.ok(reply.promptTokens < 100, `${reply.promptTokens} tokens`);
      });

    it('keeps the organization of OPENAI_ORG_ID to itself', async () => {
      process.env.OPENAI_ORG_ID = 'org-of-someone';
      try {
        await harness.callAfter(answer('Yes.'));
      } finally {
        delete process.env.OPENAI_ORG_ID;
      }
      assert.equal(harness.server.calls[0]?.headers['openai-organization'], undefined);
    });
  });

  describe('reservations', () => {
    const promptCost = () =>
      harness.server.calls.map(({ body: { messages, response_format } }) => {
        return estimateUsage({ messages, response_format }, 1).promptTokens * 15;
      });

    it('are made before each request: what the block has cost, and what the request is estimated to cost', async () => {
      harness.server.will(answer('no JSON'), answer(JSON.stringify(person)));
      await harness.call({ outputSchema: personSchema });
      const [first = 0, second = 0] = promptCost();
      assert.deepEqual(harness.reserved, [first + 1_000 * 60, 10 * 15 + 5 * 60 + second + 5 * 60]);
    });

    it('are for an answer as long as the limit allows, where that is less than is expected', async () => {
      harness.server.will(answer('Yes.'));
      await harness.call({ processor_config: { max_tokens: 7 } });
      assert.deepEqual(harness.reserved, [(promptCost()[0] ?? 0) + 7 * 60]);
    });
  });

  describe('cancellation', () => {
    it("rejects with the signal's reason and hangs up", async () => {
      const reason = new Error('cancelled by the run');
      const controller = new AbortController();
      harness.server.will(hang);
      const called = harness.server.nextCall();
      const failure = assert.rejects(harness.call({}, controller.signal), reason);
      const response = await called;
      const hungUp = once(response, 'close');
      controller.abort(reason);
      await failure;
      await hungUp;
    });

    it('is measured as the oldest call of its provider until it ends', async () => {
      const metrics = captureMetrics();
      const oldest = async () =>
        (await metrics.read('weir.model.oldest_call_age'))['gen_ai.provider.name=openai'];
      const controller = new AbortController();
      harness.server.will(hang);
      const called = harness.server.nextCall();
      const failure = assert.rejects(harness.call({}, controller.signal));
      await called;
      assert.ok(Number(await oldest()) > 0);
      controller.abort();
      await failure;
      assert.equal(await oldest(), 0);
      metrics.stop();
    });

    it('does not call when the signal was aborted before', async () => {
      await assert.rejects(harness.call({}, AbortSignal.abort(new Error('too late'))), /too late/);
      assert.equal(harness.server.calls.length, 0);
    });
  });

  it('may take the time that its block says, else its model’s entry, else ten minutes', async () => {
    for (const [block, seconds] of [
      [{ model: 'openai/gpt-4o', processor_config: { timeout_ms: 7_000 } }, '7'],
      [{ model: 'openai/gpt-4o' }, '300'],
      [{ model: 'openai/gpt-5' }, '600'],
    ] as const) {
      harness.server.will(answer('Ada'));
      await harness.call(block);
      assert.equal(harness.server.calls.at(-1)?.headers['x-stainless-timeout'], seconds);
    }
  });

  describe('structured output', () => {
    const withSchema = (outputSchema: JsonSchema, model = 'openai/gpt-4o-mini') =>
      harness.call({ outputSchema, model });

    it('asks for the native format where the model has it', async () => {
      harness.server.will(answer(JSON.stringify(person)));
      assert.deepEqual((await withSchema(personSchema)).output, person);
      assert.partialDeepStrictEqual(harness.server.calls[0]?.body, {
        messages: [{ role: 'user', content: 'Who was Ada?' }],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'output', schema: personSchema, strict: true },
        },
      });
    });

    it('instructs a model that lacks it, and reads a fenced answer', async () => {
      harness.server.will(answer(`Here you are:\n\`\`\`json\n${JSON.stringify(person)}\n\`\`\``));
      assert.deepEqual((await withSchema(personSchema, 'anthropic/claude-haiku-4-5')).output, person);
      const [call] = harness.server.calls;
      assert.equal(call?.body.response_format, undefined);
      assert.match(JSON.stringify(call?.body.messages), /"role":"system".*JSON Schema.*\\"age\\"/);
    });

    it('repairs once: the same conversation, the answer, what was wrong; usage is the sum', async () => {
      harness.server.will(answer('{"name":"Ada","age":"36"}'), answer(JSON.stringify(person)));
      const reply = await withSchema(personSchema);
      assert.partialDeepStrictEqual(reply, { output: person, promptTokens: 20, completionTokens: 10 });
      assert.equal(reply.costMicrocredits, 20 * 15 + 10 * 60);
      const messages = harness.server.calls[1]?.body.messages as
        | { role: string; content: string }[]
        | undefined;
      const [prompt, wrong, repair] = messages ?? [];
      assert.deepEqual(prompt, { role: 'user', content: 'Who was Ada?' });
      assert.deepEqual(wrong, { role: 'assistant', content: '{"name":"Ada","age":"36"}' });
      assert.equal(repair?.role, 'user');
      assert.match(repair?.content ?? '', /\/age must be integer/);
      assert.deepEqual(
        harness.server.calls[1]?.body.response_format,
        harness.server.calls[0]?.body.response_format,
      );
    });

    describe('of a schema whose root is not an object', () => {
      const listSchema = { type: 'array', items: { type: 'string' } };
      const repairRequest = () => {
        const messages = harness.server.calls[1]?.body.messages as { content: string }[];
        return messages.at(-1)?.content ?? '';
      };

      it('is asked for in the native format as the value of an object, and is the output without the object', async () => {
        harness.server.will(answer('{"value":["Ada"]}'));
        assert.deepEqual((await withSchema(listSchema)).output, ['Ada']);
        const format = harness.server.calls[0]?.body.response_format;
        assert.partialDeepStrictEqual(format, {
          json_schema: { schema: { type: 'object', properties: { value: listSchema } }, strict: true },
        });
      });

      it('is read from a bare value, too', async () => {
        harness.server.will(answer('["Ada"]'));
        assert.deepEqual((await withSchema(listSchema)).output, ['Ada']);
      });

      it('is null where the schema takes null', async () => {
        harness.server.will(answer('{"value":null}'));
        assert.equal((await withSchema({ type: ['string', 'null'] })).output, null);
      });

      it('is an object with the same property only where nothing else matches the schema', async () => {
        const point = { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] };
        const schema = { anyOf: [point, { type: 'null' }] };
        harness.server.will(answer('{"value":{"value":1}}'), answer('{"value":1}'));
        assert.deepEqual((await withSchema(schema)).output, { value: 1 });
        assert.deepEqual((await withSchema(schema)).output, { value: 1 });
      });

      it('is repaired in the form that was asked for; the error speaks of the schema of the block', async () => {
        harness.server.will(answer('{"value":["Ada",1]}'), answer('{"value":["Ada",2]}'));
        await assert.rejects(
          withSchema(listSchema),
          fails('MODEL_OUTPUT_INVALID', /repair: \/1 must be string\.$/),
        );
        assert.match(repairRequest(), /- \/value\/1 must be string\n/);
      });

      it('is asked for in the object again when a bare value does not match', async () => {
        harness.server.will(answer('[1]'), answer('{"value":["Ada"]}'));
        assert.deepEqual((await withSchema(listSchema)).output, ['Ada']);
        assert.match(
          repairRequest(),
          /the value must be an object with "value".*\n- \/value\/0 must be string/,
        );
      });

      it('may have 64 levels, as any other', async () => {
        const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
        harness.server.will(answer(`{"value":${nested(64)}}`));
        await withSchema({ type: 'array' });
        const deep = nested(65);
        harness.server.will(answer(`{"value":${deep}}`), answer(deep));
        await assert.rejects(withSchema({ type: 'array' }), fails('MODEL_OUTPUT_INVALID', /64 levels/));
      });

      it('is instructed where it cannot be moved into an object', async () => {
        harness.server.will(answer('["Ada"]'));
        const schema = { ...listSchema, $anchor: 'list' };
        assert.deepEqual((await withSchema(schema)).output, ['Ada']);
        assert.equal(harness.server.calls[0]?.body.response_format, undefined);
        assert.match(JSON.stringify(harness.server.calls[0]?.body.messages), /"role":"system".*JSON Schema/);
      });
    });

    it("charges a repair on the service's key for itself alone, after an answer with an own key", async () => {
      harness.server.will(answer('{"name":"Ada"}'), answer(JSON.stringify(person)));
      let requests = 0;
      const begin = async () => {
        requests += 1;
        return { ...harness.server.provider, ...(requests === 1 && { own: true as const }) };
      };
      const block = { outputSchema: personSchema };
      const { costMicrocredits } = await harness.call(block, undefined, { begin });
      assert.deepEqual([requests, costMicrocredits], [2, 10 * 15 + 5 * 60]);
    });

    it('names no model in its usage that is not known', async () => {
      await assert.rejects(harness.call({ model: 'runs' }));
      assert.equal(harness.usage.model, undefined);
    });

    it('is MODEL_OUTPUT_INVALID with what did not match after one failed repair', async () => {
      harness.server.will(answer('Ada was 36.'), answer('{"name":"Ada"}'));
      await assert.rejects(
        withSchema(personSchema),
        fails('MODEL_OUTPUT_INVALID', /the value must have required property 'age'/),
      );
      assert.equal(harness.server.calls.length, 2);
    });

    it('refuses numbers that would become null, and says so in the repair', async () => {
      harness.server.will(answer('{"name":"Ada","age":1e400}'), answer('{"name":"Ada","age":36}'));
      assert.deepEqual((await withSchema(personSchema)).output, { name: 'Ada', age: 36 });
      const messages = harness.server.calls[1]?.body.messages as { content: string }[];
      assert.match(messages.at(-1)?.content ?? '', /no number beyond 1\.8e308/);
    });

    for (const [key, value] of [
      ['__proto__', '{"admin": true}'],
      ['constructor', '{"prototype": {}}'],
    ])
      it(`refuses the key ${key} of ${value}, and names the place in the repair`, async () => {
        harness.server.will(answer(`{"a": [{"${key}": ${value}}]}`), answer('{"a": []}'));
        const { output } = await harness.call({ outputSchema: { type: 'object' } });
        assert.deepEqual(output, { a: [] });
        const messages = harness.server.calls[1]?.body.messages as { content: string }[];
        assert.match(
          messages.at(-1)?.content ?? '',
          new RegExp(`- /a/0/${key} is a key that is not accepted`),
        );
      });

    it('refuses integers that would be rounded, and names the place in the repair', async () => {
      harness.server.will(answer('{"name":"Ada","age":9007199254740993}'), answer('{"name":"Ada","age":36}'));
      assert.deepEqual((await withSchema(personSchema)).output, { name: 'Ada', age: 36 });
      const messages = harness.server.calls[1]?.body.messages as { content: string }[];
      assert.match(messages.at(-1)?.content ?? '', /\/age.* is 9007199254740993, a whole number/);
    });

    it('refuses JSON nested deeper than 64 levels', async () => {
      const deep = '['.repeat(10_000) + ']'.repeat(10_000);
      harness.server.will(answer(deep), answer(deep));
      await assert.rejects(withSchema({ type: 'array' }), fails('MODEL_OUTPUT_INVALID', /64 levels/));
    });
  });
});

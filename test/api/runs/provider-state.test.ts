import assert from 'node:assert/strict';
import { passthrough } from '../../blocks.ts';
import { type FakeAnthropic, startFakeAnthropic } from '../../fakes/anthropic-server.ts';
import { type FakeResponses, startFakeResponses } from '../../fakes/responses-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { createStepClient, only, resumeOf as resumeStep } from './step-client.ts';
import { resumeOf, weather } from './tool-calls-harness.ts';

const thinking = { type: 'thinking', thinking: 'They want the weather.', signature: 'EqQBCgIYAhIM' };
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } };
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAABo' };
const called = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: '{"city":"Paris"}',
};

describe('what a model thought before its tool calls', () => {
  let weir: Weir;
  let tenant: Tenant;
  let anthropic: FakeAnthropic;
  let responses: FakeResponses;
  before(async () => {
    anthropic = await startFakeAnthropic();
    responses = await startFakeResponses();
    const { apiKey } = anthropic.provider;
    weir = await startWeir({
      env: {
        ANTHROPIC_BASE_URL: anthropic.origin,
        ANTHROPIC_API_KEY: apiKey,
        OPENAI_BASE_URL: `${responses.origin}/v1`,
        OPENAI_API_KEY: apiKey,
      },
    });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await anthropic.close();
    await responses.close();
  });

  const apis = [
    {
      name: 'the Messages API',
      model: 'anthropic/claude-sonnet-4-5',
      processor_config: { tools_enabled: true, reasoning_effort: 'low' as const },
      play: () =>
        anthropic.will(anthropic.say([thinking, toolUse], { stop: 'tool_use' }), anthropic.say('sunny')),
      sentBack: () => anthropic.calls.at(-1)?.body.messages[1].content,
      expected: [thinking, toolUse],
    },
    ...['openai/gpt-5', 'openai/think1'].map((model) => ({
      name: `the Responses API of ${model}`,
      model,
      processor_config: { tools_enabled: true, api: 'openai-responses' as const },
      play: () => responses.will(responses.give([reasoning, called]), responses.give('sunny')),
      sentBack: () => responses.calls.at(-1)?.body.input.slice(1, 3),
      expected: [reasoning, called],
    })),
  ];
  for (const { name, model, processor_config, play, sentBack, expected } of apis) {
    const createFlow = () =>
      weir.createFlow(tenant, [
        passthrough('first'),
        {
          type: 'sequential',
          step_id: 'ask',
          name: 'Ask',
          processor_type: 'llm',
          model,
          prompt: '{{message}}',
          processor_config,
        },
      ]);

    it(`goes back to ${name} unchanged with the resume of /execute`, async () => {
      const flow = await createFlow();
      play();
      const call = (body: object) => weir.call('POST', `${flow}/execute`, { key: tenant.key, body });
      const { body: paused } = await call({ message: 'Paris?', tools: [weather] });
      assert.equal(paused.status, 'tool_calls_required', JSON.stringify(paused));
      const { body: ended } = await call(resumeOf(paused));
      assert.deepEqual([ended.status, ended.result], ['completed', 'sunny'], JSON.stringify(ended));
      assert.deepEqual(sentBack(), expected);
    });

    it(`goes back to ${name} unchanged with the resume of /step`, async () => {
      const flow = await createFlow();
      const client = await createStepClient(weir, tenant);
      play();
      const { executionId } = only(
        await client.step(flow, { stepIndex: 0, message: 'Paris?' }),
        'run_started',
      );
      const accumulatedOutputs = { first: 'Paris?' };
      const asked = { executionId, stepIndex: 1, accumulatedOutputs, tools: [weather] };
      const paused = await client.step(flow, asked);
      const ended = await client.step(flow, resumeStep(asked, paused));
      assert.equal(only(ended, 'run_completed').result, 'sunny');
      assert.deepEqual(sentBack(), expected);
    });
  }
});

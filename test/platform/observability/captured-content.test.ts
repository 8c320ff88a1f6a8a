import assert from 'node:assert/strict';
import { asking, toolCall, weather } from '../../api/runs/tool-calls-harness.ts';
import { callTools } from '../../fakes/model-server.ts';
import { has, startTracedWeir, type TracedWeir } from './tracing-harness.ts';

describe('the content of model calls', () => {
  let weir: TracedWeir;
  before(async () => {
    weir = await startTracedWeir({ env: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' } });
  });
  after(() => weir.stop());

  it('is in their spans when it is asked for, up to a length, and nowhere else', async () => {
    const { tenant, models, otlp } = weir;
    const flow = await weir.createFlow(tenant, [asking('ask', '{{message}}')]);
    models.will(callTools([toolCall('c1')], 'an answer'));
    const message = `Paris? ${'x'.repeat(100_000)}`;
    const { body } = await weir.call('POST', `${flow}/execute`, {
      key: tenant.key,
      body: { message, tools: [weather] },
    });
    const spans = await otlp.traceWhen(body.traceId, has('chat gpt-4o-mini', 'RunWorkflow:runFlow'));
    const chat = spans.find(({ name }) => name === 'chat gpt-4o-mini');
    const sent = String(chat?.attributes['gen_ai.input.messages']);
    assert.match(sent, /^\[\{"role":"user","parts":\[\{"type":"text","content":"Paris\? x+$/);
    assert.equal(sent.length, 32_768);
    assert.deepEqual(JSON.parse(String(chat?.attributes['gen_ai.output.messages'])), [
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'an answer' },
          { type: 'tool_call', id: 'c1', name: 'get_weather', arguments: '{"city":"Paris"}' },
        ],
        finish_reason: 'tool_calls',
      },
    ]);
    const others = spans.filter((span) => span !== chat);
    assert.doesNotMatch(JSON.stringify(others), /Paris/);
    assert.doesNotMatch(otlp.text(), new RegExp(models.provider.apiKey));
  });
});

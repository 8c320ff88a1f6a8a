// How a run ends with each deviation of the demo models, as someone sees who tries them with `npm start`.
import assert from 'node:assert/strict';
import { DEVIATIONS } from '../../dev/demo-model/deviations.ts';
import { startDemoModelServer } from '../../dev/demo-model/server.ts';
import { llm } from '../blocks.ts';
import { startWeir, type Tenant, type Weir } from '../harness.ts';
import { outputSchema, tools } from './requests.ts';

type Kind = 'text' | 'schema' | 'tools';
type End = 'completed' | `MODEL_${string}`;

/** By model: what its block asks for, and how the run ends, after a pause for tools. */
const ENDS: { [model: string]: [Kind, End] } = {
  reasoning: ['tools', 'completed'],
  signature: ['tools', 'completed'],
  parts: ['schema', 'completed'],
  thinking: ['text', 'completed'],
  prose: ['schema', 'completed'],
  fence: ['schema', 'completed'],
  bom: ['schema', 'completed'],
  streams: ['text', 'completed'],
  'done-line': ['text', 'completed'],
  'hang-up': ['text', 'MODEL_UNAVAILABLE'],
  'error-detail': ['text', 'MODEL_NOT_FOUND'],
  'error-bare': ['text', 'MODEL_NOT_FOUND'],
  'error-list': ['text', 'MODEL_NOT_FOUND'],
  'error-array': ['text', 'MODEL_NOT_FOUND'],
  'error-in-200': ['text', 'MODEL_REQUEST_INVALID'],
  quota: ['text', 'MODEL_QUOTA_EXCEEDED'],
  timeout: ['text', 'completed'],
  'tool-failure': ['tools', 'completed'],
  'schema-refused': ['schema', 'completed'],
  'strict-refused': ['schema', 'completed'],
  'tool-prefix': ['tools', 'completed'],
  'tool-suffix': ['tools', 'completed'],
  'wrong-tool-once': ['tools', 'completed'],
  'wrong-tool': ['tools', 'MODEL_OUTPUT_INVALID'],
  'no-arguments': ['tools', 'completed'],
  empty: ['text', 'MODEL_OUTPUT_INCOMPLETE'],
  'cut-off': ['schema', 'MODEL_OUTPUT_INCOMPLETE'],
  filtered: ['text', 'MODEL_REFUSED'],
  refusal: ['text', 'MODEL_REFUSED'],
  'no-finish': ['text', 'completed'],
  'odd-finish': ['text', 'MODEL_OUTPUT_INCOMPLETE'],
  'usage-cached': ['text', 'completed'],
  'usage-reasoning': ['text', 'completed'],
  'usage-missing': ['text', 'completed'],
  'usage-none': ['text', 'completed'],
};

describe('a run with a demo model that deviates', () => {
  let demo: { url: string; close(): Promise<void> };
  let weir: Weir;
  let tenant: Tenant;
  before(async () => {
    demo = await startDemoModelServer();
    weir = await startWeir({ env: { DEMO_BASE_URL: demo.url } });
    tenant = await weir.createTenant();
  });
  after(async () => {
    await weir.stop();
    await demo.close();
  });

  async function run(model: string, kind: Kind) {
    const more = {
      ...(kind === 'schema' && { outputSchema }),
      processor_config: { ...(kind === 'tools' && { tools_enabled: true }), max_retries: 1 },
    };
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}', `demo/${model}`, more)]);
    const offered = kind === 'tools' && { tools };
    const send = async (body: object) =>
      (await weir.call('POST', `${flow}/execute`, { key: tenant.key, body: { ...body, ...offered } })).body;
    let answer = await send({ message: 'Use get_weather in Oslo' });
    while (answer.status === 'tool_calls_required') {
      const { toolCalls, toolCallMessages, ...rest } = answer;
      const results = toolCalls.map(({ id }: { id: string }) => ({
        role: 'tool',
        tool_call_id: id,
        content: '12 C',
      }));
      answer = await send({ ...rest, toolCallMessages: [...toolCallMessages, ...results] });
    }
    return answer;
  }

  for (const [model, [kind, end]] of Object.entries(ENDS)) {
    it(`ends as it should: ${model}`, async () => {
      const { status, code, result, errorMessage } = await run(model, kind);
      assert.equal(code ?? status, end, errorMessage);
      if (end !== 'completed') return;
      const said = kind === 'tools' ? 'from tool results: 12 C' : 'to: Use get_weather in Oslo';
      assert.deepEqual(result, kind === 'schema' ? { city: 'Use get weather' } : `Demo answer ${said}`);
    });
  }

  it('is tried with every deviation', () => assert.deepEqual(Object.keys(ENDS), Object.keys(DEVIATIONS)));

  it('that does not exist fails with the names of those that do', async () => {
    const { status, errorMessage } = await run('other', 'text');
    assert.equal(status, 'failed');
    assert.match(errorMessage, /chat vision .*usage-none/);
  });
});

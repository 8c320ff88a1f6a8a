// What a provider puts on a message with tool calls survives the pause, and goes back to that provider only.
import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { llm } from '../../blocks.ts';
import { answer, type Behaviour, respond } from '../../fakes/model-server.ts';
import { createStepClient, only, type StepClient, resumeOf as stepResumeOf } from './step-client.ts';
import {
  asking,
  type Body,
  resultsOf,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const STATE = {
  content: '',
  reasoning_content: 'They want the weather.',
  reasoning_details: [{ id: 'rs_1' }],
};
const call = { ...toolCall('c1'), index: 0, extra_content: { google: { thought_signature: 'c2ln' } } };
const turn = (state: object = STATE) => ({ role: 'assistant', ...state, tool_calls: [call] });
const answerWith = (message: object): Behaviour =>
  respond(200, { choices: [{ message }], usage: { prompt_tokens: 10, completion_tokens: 5 } });
const ofDemo = (stepId: string): Step =>
  llm(stepId, 'x', 'demo/chat', { processor_config: { tools_enabled: true } });

describe('the state of a message with tool calls', () => {
  const h = useToolCalls();
  let flow: string;
  let client: StepClient;
  before(async () => {
    flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    client = await createStepClient(h.weir, h.tenant);
  });
  const sent = (): Body[] => h.models.calls.at(-1)?.body.messages as Body[];

  it('is in the pause of /execute, and sent back unchanged through several rounds', async () => {
    const empty = { content: null, reasoning_content: '' };
    h.models.will(answerWith(turn()), answerWith(turn(empty)), answer('sunny'));
    const first = await h.pause(flow);
    assert.deepEqual(first.toolCallMessages[1], turn());
    assert.deepEqual(first.toolCalls, [call]);
    const { body: second } = await h.execute(flow, { ...resumeOf(first), resumeState: first.resumeState });
    assert.deepEqual(second.toolCallMessages[3], turn(empty));
    const { body } = await h.execute(flow, { ...resumeOf(second), resumeState: second.resumeState });
    assert.equal(body.result, 'sunny');
    assert.deepEqual(sent(), resumeOf(second).toolCallMessages);
  });

  it('is in the pause of /step, and sent back unchanged', async () => {
    h.models.will(answerWith(turn()), answer('sunny'));
    const asked = { stepIndex: 0, message: 'm', tools: [weather] };
    const events = await client.step(flow, asked);
    const { executionId } = only(events, 'run_started');
    assert.deepEqual(only(events, 'step_paused_for_tool_calls').toolCallMessages[1], turn());
    const resume = stepResumeOf({ ...asked, executionId }, events);
    assert.equal(only(await client.step(flow, resume), 'run_completed').result, 'sunny');
    assert.deepEqual(sent()[1], turn());
  });

  it('may be read again from GET …/jobs, and sent back from there', async () => {
    h.models.will(answerWith(turn()), answer('sunny'));
    const { body: paused } = await h.read(flow, (await h.pause(flow)).executionId);
    assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'sunny');
    assert.deepEqual(sent()[1], turn());
  });

  it('may be added by the caller, and is passed on', async () => {
    h.models.will(answerWith(turn({ content: null })), answer('sunny'));
    const paused = await h.pause(flow);
    const [prompt] = paused.toolCallMessages;
    const toolCallMessages = [prompt, { ...turn(), annotations: [], refusal: null }, ...resultsOf(paused)];
    const { body } = await h.execute(flow, { ...resumeOf(paused), toolCallMessages });
    assert.equal(body.result, 'sunny', JSON.stringify(body));
    assert.deepEqual(sent()[1], turn());
  });

  it('with fields of a client that are never sent is the same state', async () => {
    h.models.will(answerWith(turn()), answer('sunny'));
    const paused = await h.pause(flow);
    const fields = { annotations: [], refusal: null, audio: null, function_call: null };
    const toolCallMessages = [paused.toolCallMessages[0], { ...turn(), ...fields }, ...resultsOf(paused)];
    const { resumeState } = paused;
    assert.equal((await h.execute(flow, { ...resumeOf(paused), toolCallMessages, resumeState })).status, 200);
  });

  it('that was changed is refused with its resumeState', async () => {
    h.models.will(answerWith(turn()));
    const paused = await h.pause(flow);
    const toolCallMessages = [paused.toolCallMessages[0], turn({ content: '' }), ...resultsOf(paused)];
    const { resumeState } = paused;
    const refused = await h.execute(flow, { ...resumeOf(paused), toolCallMessages, resumeState });
    assert.deepEqual([refused.status, refused.body.detail?.code], [400, 'INVALID_RESUME']);
  });

  it('is dropped where the resume goes to another provider, for good', async () => {
    const other = { ask: { model: 'demo/chat' } };
    const ofOther = { content: null, reasoning: 'Hm' };
    h.models.will(answerWith(turn()), answerWith({ ...turn(ofOther), tool_calls: [toolCall('c2')] }));
    const first = await h.pause(flow);
    const { body: second } = await h.execute(flow, { ...resumeOf(first), block_overrides: other });
    const bare = { role: 'assistant', content: '', tool_calls: [toolCall('c1')] };
    assert.deepEqual(sent()[1], bare);
    assert.deepEqual(second.toolCallMessages[1], bare);
    assert.equal(second.toolCallMessages[3].reasoning, 'Hm');
    const { sent: shown } = (await h.read(flow, second.executionId, '/blocks/ask')).body;
    assert.deepEqual(shown.messages[1], bare);
    h.models.will(answer('sunny'));
    assert.equal(
      (await h.execute(flow, { ...resumeOf(second), block_overrides: other })).body.result,
      'sunny',
    );
    assert.deepEqual(sent()[3], second.toolCallMessages[3]);
  });

  it('is dropped for another model of its provider', async () => {
    h.models.will(answerWith(turn()), answer('sunny'));
    const block_overrides = { ask: { model: 'openai/gpt-4o' } };
    await h.execute(flow, { ...resumeOf(await h.pause(flow)), block_overrides });
    assert.deepEqual(sent()[1], { role: 'assistant', content: '', tool_calls: [toolCall('c1')] });
  });

  it('of one block does not reach another', async () => {
    const two = await h.weir.createFlow(h.tenant, [asking('one'), ofDemo('two')]);
    h.models.will(answerWith(turn()), answer('first'), answerWith(turn({ content: null, reasoning: 'Hm' })));
    const first = await h.pause(two);
    const { body: second } = await h.execute(two, resumeOf(first));
    assert.deepEqual(second.toolCallMessages, [
      { role: 'user', content: 'x' },
      turn({ content: null, reasoning: 'Hm' }),
    ]);
    h.models.will(answer('second'));
    assert.equal((await h.execute(two, resumeOf(second))).body.result, 'second');
    assert.deepEqual(sent()[1], second.toolCallMessages[1]);
  });

  it('is sent again where a failed resume is sent again', async () => {
    h.models.will(answerWith(turn()), respond(400, { error: { message: 'no' } }), answer('sunny'));
    const paused = await h.pause(flow);
    assert.equal((await h.execute(flow, resumeOf(paused))).body.status, 'failed');
    assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'sunny');
    assert.deepEqual(sent()[1], turn());
  });

  it('that makes the conversation larger than a resume may send fails the run', async () => {
    h.models.will(answerWith(turn({ content: null, reasoning: 'x'.repeat(1024 * 1024) })));
    const { body } = await h.execute(flow);
    assert.deepEqual([body.status, body.code], ['failed', 'MESSAGES_TOO_LARGE']);
  });
});

import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { answer, callTools } from '../../fakes/model-server.ts';
import {
  asking,
  type Body,
  detail,
  MODEL,
  resumeOf,
  toolCall,
  useToolCalls,
  weather,
} from './tool-calls-harness.ts';

const time = { type: 'function', function: { name: 'get_time' } };
const IMAGE = 'https://images.example/cat.png';

describe('tools of /execute', () => {
  const h = useToolCalls({
    env: { WEIR_TEST_DIAL_MAP: JSON.stringify({ 'images.example': '127.0.0.1:9' }) },
  });
  const asked = (index: number): Body => h.models.calls[index]?.body;

  const choices: Body[] = [
    'auto',
    'none',
    'required',
    { type: 'function', function: { name: 'get_weather' } },
  ];
  for (const toolChoice of choices)
    it(`reach the model with toolChoice ${JSON.stringify(toolChoice)}, on resume too`, async () => {
      const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
      h.models.will(callTools([toolCall('a')]), answer('ok'));
      // A model that is to choose none has nothing to wait for.
      const isNone = toolChoice === 'none';
      const paused = await h.pause(flow, isNone ? {} : { toolChoice });
      await h.execute(flow, { ...resumeOf(paused), toolChoice });
      for (const index of isNone ? [1] : [0, 1])
        assert.partialDeepStrictEqual(asked(index), { tools: [weather], tool_choice: toolChoice });
    });

  const resumes: [rule: string, Body, sent: Body][] = [
    ['tools without toolChoice', { tools: [weather] }, { tools: [weather], tool_choice: undefined }],
    ['no tools', { tools: undefined }, { tools: undefined, tool_choice: undefined }],
    ['an empty list of tools', { tools: [] }, { tools: undefined, tool_choice: undefined }],
    ['other tools', { tools: [time], toolChoice: 'auto' }, { tools: [time], tool_choice: 'auto' }],
  ];
  for (const [rule, body, sent] of resumes)
    it(`of a resume hold for it alone, not those of the call before: ${rule}`, async () => {
      const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
      h.models.will(callTools([toolCall('a')]), answer('ok'));
      const paused = await h.pause(flow, { toolChoice: 'required' });
      assert.equal((await h.execute(flow, { ...resumeOf(paused), ...body })).body.result, 'ok');
      const { tools, tool_choice } = asked(1);
      assert.deepEqual({ tools, tool_choice }, sent);
    });

  it('are without tool_choice when the caller sends none', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    h.models.will(answer('ok'));
    await h.execute(flow);
    assert.deepEqual(asked(0).tools, [weather]);
    assert.equal('tool_choice' in asked(0), false);
  });

  it('are not offered to blocks without the flag, nor when no tools are sent', async () => {
    const flow = await h.weir.createFlow(h.tenant, [llm('plain', 'x', MODEL), asking('ask')]);
    h.models.will(answer('1'), answer('2'), answer('3'), answer('4'));
    await h.execute(flow, { toolChoice: 'required' });
    assert.equal('tools' in asked(0) || 'tool_choice' in asked(0), false);
    assert.deepEqual(asked(1).tools, [weather]);
    await h.execute(flow, { tools: undefined });
    await h.execute(flow, { tools: [] });
    for (const index of [2, 3]) assert.equal('tools' in asked(index) || 'tool_choice' in asked(index), false);
  });

  it('go with images, which are sent again on resume, and not part of the conversation', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    h.models.will(callTools([toolCall('a')]), answer('A cat'));
    const attachments = [{ kind: 'url', url: IMAGE, mime_type: 'image/png' }];
    const paused = await h.pause(flow, { attachments });
    assert.deepEqual(paused.toolCallMessages[0], { role: 'user', content: 'Paris?' });
    const block_overrides = { ask: { model: 'openai/o3-mini' } };
    const blind = await h.execute(flow, { ...resumeOf(paused), block_overrides });
    assert.equal(detail(blind, 400, 'MODEL_MIME_INCOMPATIBLE').model, 'openai/o3-mini');
    assert.equal((await h.execute(flow, resumeOf(paused))).body.result, 'A cat');
    const content = [
      { type: 'text', text: 'Paris?' },
      { type: 'image_url', image_url: { url: IMAGE } },
    ];
    for (const index of [0, 1]) assert.deepEqual(asked(index).messages[0], { role: 'user', content });
  });

  it('go with an outputSchema, which the answer after them has to match; a repair calls none', async () => {
    const outputSchema = { type: 'object', properties: { sunny: { type: 'boolean' } }, required: ['sunny'] };
    const flow = await h.weir.createFlow(h.tenant, [asking('ask', 'x', { outputSchema })]);
    h.models.will(callTools([toolCall('a')]), answer('{}'), answer('{"sunny":true}'));
    const { body } = await h.execute(flow, resumeOf(await h.pause(flow)));
    assert.deepEqual(body.result, { sunny: true });
    assert.equal(asked(1).response_format.type, 'json_schema');
    assert.deepEqual([asked(1).tool_choice, asked(2).tool_choice], [undefined, 'none']);
  });
});

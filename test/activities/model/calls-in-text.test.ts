// Tool calls that a model server has not found in the text of its model.
import assert from 'node:assert/strict';
import type { ToolDefinition } from '../../../flow/tool-calls.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { fails, useAskModel } from './ask-model-harness.ts';

const tools: ToolDefinition[] = ['ping', 'get_weather'].map((name) => ({
  type: 'function',
  function: { name },
}));
const CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}';
const OSLO = ['get_weather', '{"city":"Oslo"}'];

describe('a tool call in the text of an answer', () => {
  const harness = useAskModel();
  async function ask(text: string) {
    harness.server.will(answer(text));
    const { output, paused } = await harness.call({}, undefined, { tools });
    if (!paused) return { output };
    // biome-ignore lint/suspicious/noExplicitAny: the assistant message of the pause
    const { content, tool_calls } = (output as any[]).at(-1);
    type Call = { function: { name: string; arguments: string } };
    return { content, calls: tool_calls.map(({ function: f }: Call) => [f.name, f.arguments]) };
  }

  for (const [name, text, said, calls] of [
    ['Hermes and Qwen', `<tool_call>\n${CALL}\n</tool_call>`, null, [OSLO]],
    ['Qwen, after words', `I will look.\n<tool_call>${CALL}</tool_call>`, 'I will look.', [OSLO]],
    ['Qwen, after thoughts', `<think>Norway</think><tool_call>${CALL}</tool_call>`, null, [OSLO]],
    [
      'Qwen, twice',
      `<tool_call>${CALL}</tool_call>\n<tool_call>{"name": "ping", "arguments": {}}</tool_call>`,
      null,
      [OSLO, ['ping', '{}']],
    ],
    ['Qwen, without an end', `<tool_call>${CALL}`, null, [OSLO]],
    ['Llama', '<function=get_weather>{"city": "Oslo"}</function>', null, [OSLO]],
    ['Llama, as JSON', '{"name": "get_weather", "parameters": {"city": "Oslo"}}', null, [OSLO]],
    ['Mistral', `[TOOL_CALLS] [${CALL}]</s>`, null, [OSLO]],
    ['Mistral, as of 2025', '[TOOL_CALLS]get_weather{"city": "Oslo"}', null, [OSLO]],
    ['Phi', `<|tool_call|>[${CALL}]<|/tool_call|>`, null, [OSLO]],
    ['Llama, with its own token', `<|python_tag|>${CALL}`, null, [OSLO]],
    [
      'Llama, among words',
      `I will look.\n<|python_start|>${CALL}<|python_end|>\nWait.`,
      'I will look.',
      [OSLO],
    ],
    ['Nemotron', `<TOOLCALL>[${CALL}]</TOOLCALL>`, null, [OSLO]],
    ['Qwen, in a block of code', `\`\`\`json\n${CALL}\n\`\`\``, null, [OSLO]],
    ['Llama, in lines', `${CALL}\n${CALL}`, null, [OSLO, OSLO]],
    [
      'gpt-oss',
      '<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo"}<|call|>',
      null,
      [OSLO],
    ],
    [
      'a model that counts far',
      '<tool_call>{"name": "ping", "arguments": {"id": 12345678901234567890}}</tool_call>',
      null,
      [['ping', '{"id":12345678901234567890}']],
    ],
  ] as const)
    it(`is handed out as ${name} writes it`, async () => {
      assert.deepEqual(await ask(text), { content: said, calls });
    });

  for (const text of [
    'Write <tool_call>…</tool_call> around it.',
    `An example: <tool_call>${CALL}</tool_call> and <tool_call>nothing</tool_call>.`,
    `Send ${CALL}.`,
    'get_weather {"city": "Oslo"}',
    'The calls stand between <tool_calls> and </tool_calls>.',
    '<tool_call_log>none</tool_call_log>',
    '{"name": "get_weather", "city": "Oslo"}',
  ])
    it(`is text where it is only spoken of: ${text}`, async () => {
      assert.deepEqual(await ask(text), { output: text });
    });

  for (const text of [
    '<tool_call>{"name": "get_news", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "get_weather", "arguments": {"city":',
    'I look. <tool_call><function=get_weather><parameter=city>Oslo</parameter></function></tool_call>',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_end|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather',
    'First.\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">',
    '<minimax:tool_call>\n<invoke name="get_weather"></invoke>\n</minimax:tool_call>',
    '<function_calls><invoke name="get_weather"></invoke></function_calls>',
    '<|python_tag|>get_weather.call(city="Oslo")',
    '<|tool_call>call:get_weather{city:"Oslo"}<tool_call|>',
    '[get_weather(city="Oslo")]',
  ])
    it(`is asked for once more where it cannot be read, and never a result: ${text}`, async () => {
      harness.server.will(answer(text), answer('Sunny'), answer(text), answer(text));
      const { output, promptTokens } = await harness.call({}, undefined, { tools });
      assert.deepEqual([output, promptTokens], ['Sunny', 20]);
      await assert.rejects(
        harness.call({}, undefined, { tools }),
        fails('MODEL_OUTPUT_INVALID', /could not read, twice/),
      );
    });

  it('is asked for once more where its server has left it in the reasoning', async () => {
    const reasoning_content = `${'Hm. '.repeat(10_000)}<tool_call><function=get_weather></function></tool_call>`;
    const message = { role: 'assistant', content: '', tool_calls: null, reasoning_content };
    harness.server.will(respond(200, { choices: [{ message, finish_reason: 'stop' }] }), answer('Sunny'));
    const call = { id: 'a', type: 'function', function: { name: 'ping', arguments: '{}' } } as const;
    const conversation = [
      { role: 'user' as const, content: 'Ping.' },
      { role: 'assistant' as const, content: null, tool_calls: [call] },
      { role: 'tool' as const, tool_call_id: 'a', content: 'pong' },
    ];
    assert.equal((await harness.call({}, undefined, { tools, conversation })).output, 'Sunny');
  });

  it('is never a result where no tools were offered and there is nothing else', async () => {
    const text = '<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}<|call|>';
    harness.server.will(answer(text), answer('Sunny'));
    assert.equal((await harness.call()).output, 'Sunny');
  });

  it('is text where no tools were offered', async () => {
    harness.server.will(answer(CALL));
    assert.equal((await harness.call()).output, CALL);
  });
});

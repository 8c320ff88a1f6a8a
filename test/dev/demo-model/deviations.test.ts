import assert from 'node:assert/strict';
import { DEVIATIONS } from '../../../dev/demo-model/deviations.ts';
import { startDemoModelServer } from '../../../dev/demo-model/server.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape, and assert what they find
type Body = any;
type Sent = { status: number; text: string; body: Body; message: Body; type: string | null };
type Send = (more?: Body) => Promise<Sent>;

const user = { role: 'user', content: 'Use get_weather in Oslo' };
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const formatOf = (strict: boolean) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'output', schema, strict } },
});
const TEXT = 'Demo answer to: Use get_weather in Oslo';

/** Makes the conversation after a call of a tool. */
const resultOf = (turn: Body, result = '12 C') => ({
  tools,
  messages: [user, turn, { role: 'tool', tool_call_id: turn.tool_calls[0].id, content: result }],
});

const contains =
  (status: number, words: RegExp) =>
  async (send: Send): Promise<void> => {
    const { status: got, text } = await send();
    assert.equal(got, status, text);
    assert.match(text, words);
  };
const calls = (check: (call: { name: string; arguments: string }) => void) => async (send: Send) => {
  const { message } = await send({ tools });
  check(message.tool_calls[0].function);
};
const says = (content: unknown) => async (send: Send) =>
  assert.deepEqual((await send()).message.content, content);
const ends = (reason: string | undefined) => async (send: Send) =>
  assert.equal((await send()).body.choices[0].finish_reason, reason);
/** Asserts that a request with these fields is refused, and without them is answered. */
const refuses = (more: Body) => async (send: Send) => {
  assert.equal((await send(more)).status, 400);
  assert.equal((await send()).message.content, TEXT);
};
/** Asserts that the turn with tool calls is wanted back, and not with its state changed. */
const wantsBack = (change: (turn: Body) => void) => async (send: Send) => {
  const { message } = await send({ tools });
  assert.match((await send(resultOf(message))).message.content, /12 C/);
  const changed = structuredClone(message);
  change(changed);
  assert.equal((await send(resultOf(changed))).status, 400);
};
const refusesOnce = (more: Body) => async (send: Send) => {
  const statuses = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await send(more)).status);
  assert.deepEqual(statuses, [400, 200, 400]);
};
const reports = (usage: Body) => async (send: Send) => assert.deepEqual((await send()).body.usage, usage);

const TESTS: { [model: string]: (send: Send) => Promise<void> } = {
  reasoning: wantsBack((turn) => delete turn.reasoning_content),
  signature: wantsBack((turn) => delete turn.tool_calls[0].extra_content),
  parts: says([{ type: 'text', text: TEXT }]),
  async thinking(send) {
    const [thinking, text] = (await send()).message.content;
    assert.deepEqual([thinking.type, text], ['thinking', { type: 'text', text: TEXT }]);
  },
  prose: says(`Here is the JSON you asked for:\n${TEXT}\n\nNote: I made it up.`),
  fence: says(`\`\`\`json ${TEXT} \`\`\``),
  bom: says(`\ufeff${TEXT}`),
  async streams(send) {
    const { text, type } = await send({ stream: false });
    assert.equal(type, 'text/event-stream');
    assert.match(text, /^data: \{[\s\S]*data: \[DONE\]\n\n$/);
  },
  async 'done-line'(send) {
    const { text, type } = await send();
    assert.equal(type, 'application/json');
    assert.match(text, /^\{[\s\S]*\}\n\ndata: \[DONE\]\n$/);
  },
  'hang-up': (send) => assert.rejects(send()),
  'error-detail': contains(400, /^\{"detail":"The model llama-9/),
  'error-bare': contains(400, /^\{"object":"error","message":"The model llama-9/),
  'error-list': contains(400, /"errors":\[\{"code":7003/),
  'error-array': contains(400, /^\[\{"error"/),
  'error-in-200': contains(200, /^\{"error"/),
  quota: contains(429, /insufficient_quota/),
  timeout: refusesOnce({}),
  'tool-failure': refusesOnce({ tools }),
  'schema-refused': refuses(formatOf(false)),
  async 'strict-refused'(send) {
    await refuses(formatOf(true))(send);
    assert.equal((await send(formatOf(false))).status, 200);
  },
  'tool-prefix': calls(({ name }) => assert.equal(name, 'functions.get_weather')),
  'tool-suffix': calls(({ name }) => assert.equal(name, 'get_weather<|channel|>commentary')),
  async 'wrong-tool-once'(send) {
    const { message } = await send({ tools });
    assert.equal(message.tool_calls[0].function.name, 'no_such_tool');
    const again = await send(resultOf(message, 'There is no such tool.'));
    assert.equal(again.message.tool_calls[0].function.name, 'get_weather');
  },
  async 'wrong-tool'(send) {
    const { message } = await send({ tools });
    const again = await send(resultOf(message, 'There is no such tool.'));
    assert.equal(again.message.tool_calls[0].function.name, 'no_such_tool');
  },
  'no-arguments': calls((call) => assert.equal(call.arguments, '')),
  empty: says(''),
  'cut-off': ends('length'),
  filtered: ends('content_filter'),
  async refusal(send) {
    const { message } = await send();
    assert.deepEqual([message.content, typeof message.refusal], [null, 'string']);
  },
  'no-finish': ends(undefined),
  'odd-finish': ends('abort'),
  'usage-cached': reports({
    prompt_tokens: 6,
    completion_tokens: 10,
    total_tokens: 16,
    prompt_tokens_details: { cached_tokens: 5 },
  }),
  'usage-reasoning': reports({
    prompt_tokens: 6,
    completion_tokens: 10,
    total_tokens: 116,
    completion_tokens_details: { reasoning_tokens: 100 },
  }),
  'usage-missing': reports({ completion_tokens: 10, total_tokens: 16 }),
  'usage-none': reports(undefined),
};

describe('a deviation of the demo model', () => {
  let server: { url: string; close(): Promise<void> };
  before(async () => {
    server = await startDemoModelServer();
  });
  after(() => server.close());

  async function post(model: string, more: Body = {}): Promise<Sent> {
    const response = await fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer any' },
      body: JSON.stringify({ model, messages: [user], ...more }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type');
    const body = text.endsWith('}') ? JSON.parse(text) : undefined;
    return { status: response.status, text, body, message: body?.choices?.[0].message, type };
  }

  for (const model of Object.keys(DEVIATIONS))
    it(`is that of its name, with or without a prefix: ${model}`, async () => {
      await TESTS[model]?.((more) => post(model, more));
      await TESTS[model]?.((more) => post(`demo/${model}`, more));
    });

  it('has a test', () => assert.deepEqual(Object.keys(TESTS), Object.keys(DEVIATIONS)));

  it('is in the list of models, and in the answer to a model that does not exist', async () => {
    const response = await fetch(`${server.url}/models`, { headers: { authorization: 'Bearer any' } });
    const { data } = (await response.json()) as { data: { id: string; description: string }[] };
    const { status, body } = await post('gpt-9');
    assert.equal(status, 404);
    for (const [model, { description }] of Object.entries(DEVIATIONS)) {
      assert.equal(data.find(({ id }) => id === model)?.description, description);
      assert.ok(body.error.message.includes(model), model);
    }
  });

  it('that refuses once does so for each request', async () => {
    const { model, refused } = { model: 'timeout', refused: { user: 'again' } };
    assert.equal((await post(model, refused)).status, 400);
    assert.equal((await post(model, { user: 'another' })).status, 400);
    assert.equal((await post(model, refused)).status, 200);
  });
});

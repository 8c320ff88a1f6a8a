import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { OpenAI } from 'openai';
import { startDemoModelServer } from '../../../dev/demo-model/server.ts';
import { LINE_ENDS, readEvents } from '../../python-lines.ts';

type Params = Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'model' | 'messages'>;

const tools: OpenAI.Chat.ChatCompletionTool[] = [{ type: 'function', function: { name: 'get_time' } }];

describe('the demo model server', () => {
  let server: { url: string; close(): Promise<void> };
  let client: OpenAI;

  before(async () => {
    server = await startDemoModelServer();
    client = new OpenAI({ baseURL: server.url, apiKey: 'any', maxRetries: 0 });
  });
  after(() => server.close());

  function chat(
    content: string | OpenAI.Chat.ChatCompletionContentPart[],
    params: Params = {},
    model = 'chat',
  ) {
    const messages = [{ role: 'user' as const, content }];
    return client.chat.completions.create({ model, messages, ...params });
  }
  async function post(body: string, headers: Record<string, string> = { authorization: 'Bearer any' }) {
    const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', body, headers });
    return { status: response.status, body: (await response.json()) as { error: Record<string, unknown> } };
  }

  describe('a text answer', () => {
    it('is made of the last user message and the same each time', async () => {
      const first = await chat('What is a weir?');
      assert.equal(first.choices[0]?.message.content, 'Demo answer to: What is a weir?');
      assert.deepEqual(await chat('What is a weir?'), first);
    });

    it('counts four characters as a token', async () => {
      const { usage } = await chat('12345678');
      assert.deepEqual(usage, { prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 });
    });

    it('stops at max_tokens', async () => {
      const [choice] = (await chat('What is a weir?', { max_tokens: 2 })).choices;
      assert.equal(choice?.finish_reason, 'length');
      assert.equal(choice?.message.content, 'Demo ans');
    });

    it('is JSON for json_object', async () => {
      const [choice] = (await chat('Hello', { response_format: { type: 'json_object' } })).choices;
      assert.deepEqual(JSON.parse(choice?.message.content ?? ''), { answer: 'Demo answer to: Hello' });
    });

    it('comes as the same text in chunks, with usage on request', async () => {
      const whole = await chat('What is a weir?');
      const stream = await client.chat.completions.create({
        model: 'chat',
        messages: [{ role: 'user', content: 'What is a weir?' }],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks: OpenAI.Chat.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
      assert.equal(text, whole.choices[0]?.message.content);
      assert.ok(chunks.length > 5);
      assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
      assert.deepEqual(chunks.at(-1)?.usage, whole.usage);
    });

    it('streams each chunk in one line, whatever a reader takes for the end of a line', async () => {
      const content = `What${LINE_ENDS}is a weir?`;
      const body = JSON.stringify({ model: 'chat', stream: true, messages: [{ role: 'user', content }] });
      const headers = { authorization: 'Bearer any' };
      const answer = await fetch(`${server.url}/chat/completions`, { method: 'POST', body, headers });
      const events = readEvents(await answer.text()).map(({ data = '' }) => data);
      assert.equal(events.pop(), '[DONE]');
      const text = events.map((data) => JSON.parse(data).choices[0].delta.content ?? '').join('');
      assert.equal(text, (await chat(content)).choices[0]?.message.content);
    });

    it('says how many images vision saw', async () => {
      const image = { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } };
      const answer = await chat([{ type: 'text', text: 'Look' }, image, image], {}, 'vision');
      assert.equal(answer.choices[0]?.message.content, 'Demo answer to (with 2 images): Look');
    });
  });

  describe('a JSON Schema answer', () => {
    const schema = { type: 'object', properties: { title: { type: 'string' } } };

    it("fills the schema of the response format with the prompt's words", async () => {
      const json_schema = { name: 'output', schema };
      const [choice] = (
        await chat('Weirs in rivers', { response_format: { type: 'json_schema', json_schema } })
      ).choices;
      assert.equal(choice?.message.content, '{"title":"Weirs in rivers"}');
    });

    it('follows a schema in the instructions', async () => {
      const { choices } = await client.chat.completions.create({
        model: 'no-schema',
        messages: [
          { role: 'system', content: `Follow this JSON Schema: ${JSON.stringify(schema)}` },
          { role: 'user', content: 'Hello' },
        ],
      });
      assert.equal(choices[0]?.message.content, '{"title":"Hello Hello Hello"}');
    });
  });

  describe('models', () => {
    it('are listed', async () => {
      const ids = (await client.models.list()).data.map(({ id }) => id);
      assert.ok(ids.includes('chat') && ids.includes('vision'));
    });

    it('slow-<ms> answers later than one that does not wait', async () => {
      const leaving = new AbortController();
      const slow = client.chat.completions.create(
        { model: 'slow-60000', messages: [{ role: 'user', content: 'Hello' }] },
        { signal: leaving.signal },
      );
      const first = Promise.race([slow.then(() => 'slow'), chat('Hello').then(() => 'quick')]);
      assert.equal(await first, 'quick');
      leaving.abort();
      await assert.rejects(slow);
      assert.ok((await chat('Hello', {}, 'slow-200')).choices[0]?.message.content);
    });

    it('error-<status> answers with that status', () =>
      assert.rejects(chat('Hello', {}, 'error-503'), { status: 503, type: 'server_error' }));

    it('no-tools refuses tools', () =>
      assert.rejects(chat('Hello', { tools }, 'no-tools'), { status: 400, param: 'tools' }));

    it('no-schema refuses json_schema', () =>
      assert.rejects(
        chat(
          'Hello',
          { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
          'no-schema',
        ),
        { status: 400, param: 'response_format' },
      ));

    it('other than vision refuse images', () =>
      assert.rejects(chat([{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }]), {
        status: 400,
        param: 'messages',
      }));
  });

  describe('a wrong request', () => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const cases: [string, unknown, number, string | null][] = [
      ['is not JSON', '{', 400, null],
      ['is not an object', 'null', 400, null],
      ['has no model', { messages }, 400, 'model'],
      ['has an unknown model', { model: 'gpt-9', messages }, 404, 'model'],
      ['has no messages', { model: 'chat', messages: [] }, 400, 'messages'],
      [
        'has an unknown role',
        { model: 'chat', messages: [{ role: 'x', content: '' }] },
        400,
        'messages.0.role',
      ],
      ['has a wrong temperature', { model: 'chat', messages, temperature: 3 }, 400, 'temperature'],
      [
        'has a tool without name',
        { model: 'chat', messages, tools: [{ type: 'function', function: {} }] },
        400,
        'tools.0.function.name',
      ],
      ['is nested very deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400, null],
    ];
    for (const [name, body, status, param] of cases) {
      it(`gets ${status} when it ${name}`, async () => {
        const answer = await post(typeof body === 'string' ? body : JSON.stringify(body));
        assert.equal(answer.status, status);
        assert.deepEqual(Object.keys(answer.body.error), ['message', 'type', 'param', 'code']);
        assert.equal(answer.body.error.param, param);
      });
    }

    it('needs no key', async () => {
      const { status } = await post(JSON.stringify({ model: 'chat', messages }), {});
      assert.equal(status, 200);
    });

    it('gets 404 at another path', async () => {
      const response = await fetch(`${server.url}/embeddings`, { method: 'POST' });
      assert.equal(response.status, 404);
      assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'unknown_url');
    });

    it('gets 413 when it is too large', async () => {
      const headers = { authorization: 'Bearer any', 'content-length': 10 ** 9 };
      const request = httpRequest(`${server.url}/chat/completions`, { method: 'POST', headers });
      request.flushHeaders();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      assert.equal(response.statusCode, 413);
      assert.match(JSON.stringify(await json(response)), /too large/);
      request.destroy();
    });
  });

  it('goes on after a caller that hung up', async () => {
    const controller = new AbortController();
    const slow = client.chat.completions.create(
      { model: 'slow-60000', messages: [{ role: 'user', content: 'Hello' }] },
      { signal: controller.signal },
    );
    controller.abort();
    await assert.rejects(slow);
    assert.ok((await chat('Hello')).choices[0]?.message.content);
  });

  it('says that a port is taken', async () => {
    const port = Number(new URL(server.url).port);
    await assert.rejects(startDemoModelServer({ port }), { code: 'EADDRINUSE' });
  });
});

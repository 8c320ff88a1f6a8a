import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Step } from '../../../flow/definition.ts';
import { code, llm, passthrough } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';
import { createStepClient } from './step-client.ts';

describe('GET …/jobs/{executionId}/blocks', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  async function execute(steps: Step[], body: object = {}) {
    const flow = await weir.createFlow(weir.tenant, steps);
    const { key } = weir.tenant;
    const run = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'hello', ...body } });
    const path = `${flow}/jobs/${run.body.executionId}`;
    return { flow, path, body: run.body, get: (rest: string) => weir.call('GET', path + rest, { key }) };
  }
  const loop = (body: Step[]): Step => ({
    type: 'loop',
    step_id: 'each',
    name: 'each',
    max_iterations: 100,
    body,
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  const keys = ({ body }: { body: any }) => body.blocks.map(({ key }: { key: string }) => key);

  it('lists every execution as the run has it, with its call and times, in pages', async () => {
    const { body, get } = await execute([
      code('list', 'return [1, 2, 3];'),
      loop([code('double', 'return 2 * input;')]),
      code('bad', 'throw new Error("no");'),
    ]);
    const { body: whole } = await get('/blocks');
    assert.deepEqual([whole.hasMore, whole.nextCursor], [false, null]);
    const blocks = whole.blocks.map(({ callId, startedAt, finishedAt, ...block }: Record<string, string>) => {
      assert.equal(callId, body.executionId);
      assert.ok(new Date(startedAt as string) <= new Date(finishedAt as string));
      return block;
    });
    assert.deepEqual(blocks, (await get('')).body.blocks);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/blocks?limit=2${cursor}`);
      seen.push(...keys(page));
      cursor = page.body.nextCursor && `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
    } while (cursor);
    assert.deepEqual(seen, keys({ body: whole }));
    assert.equal(seen.length, 5);
  });

  it('shows the console lines of a code block, also of one that failed, and only there', async () => {
    const { body, get } = await execute([
      code('quiet', 'return input;'),
      code('loud', 'console.log("got", { input }); throw new Error("no");'),
    ]);
    const { body: loud } = await get('/blocks/loud');
    assert.deepEqual(loud.logs, [{ level: 'log', text: 'got {"input": "hello"}' }]);
    assert.equal((await get('/blocks/quiet')).body.logs, undefined);
    for (const other of [body, (await get('')).body, (await get('/blocks')).body])
      assert.doesNotMatch(JSON.stringify(other), /got/);
  });

  it('shows the failed attempts at a block with their times and errors', async () => {
    const busy = (status: number) =>
      respond(status, { error: { message: `no ${status}` } }, { 'retry-after': '0' });
    weir.models.will(busy(429), busy(503), answer('fine'));
    const { get } = await execute([llm('ask', 'x', 'demo/chat')]);
    const { body: ask } = await get('/blocks/ask');
    assert.deepEqual([ask.status, ask.attempts], ['completed', 3]);
    const times: string[] = [];
    const failed = ask.failedAttempts.map(
      ({ startedAt, endedAt, message, ...attempt }: { [name: string]: string }) => {
        times.push(startedAt as string, endedAt as string);
        return [attempt.number, attempt.code, /no \d+/.exec(message as string)?.[0]];
      },
    );
    assert.deepEqual(failed, [
      [1, 'MODEL_UNAVAILABLE', 'no 429'],
      [2, 'MODEL_UNAVAILABLE', 'no 503'],
    ]);
    assert.deepEqual([...times, ask.startedAt], [...times, ask.startedAt].sort());
  });

  it('shows the failed attempts at a block that failed for good, without the last', async () => {
    const busy = respond(503, { error: { message: 'busy' } }, { 'retry-after': '0' });
    weir.models.will(busy, busy);
    const { get } = await execute([llm('ask', 'x', 'demo/chat', { processor_config: { max_retries: 1 } })]);
    const { body: ask } = await get('/blocks/ask');
    assert.deepEqual(
      [ask.status, ask.code, ask.attempts, ask.failedAttempts.length],
      ['failed', 'MODEL_UNAVAILABLE', 2, 1],
    );
  });

  it('shows what a block got, what was sent to its model and what that answered', async () => {
    weir.models.will(respond(503, {}, { 'retry-after': '0' }), answer('fine'));
    const { get } = await execute(
      [
        code('list', 'return { n: 1 };'),
        llm('ask', '{{previous_output}} {{message}} {{steps.list}} {{parameters.of}}', 'demo/chat'),
      ],
      { parameters: { of: 'x' } },
    );
    const sent = weir.models.calls.at(-1)?.body.messages;
    const { status, body } = await get('/blocks/ask');
    assert.equal(status, 200);
    assert.deepEqual([body.input, body.output], [{ n: 1 }, 'fine']);
    assert.deepEqual(body.sent, { model: 'demo/chat', messages: sent });
    assert.deepEqual([body.attempts, body.usage.promptTokens, body.usage.completionTokens], [2, 10, 5]);
    assert.ok(body.usage.cost > 0);
    assert.deepEqual([body.inputBytes, body.outputBytes], [7, 6]);
    const list = (await get('/blocks/list')).body;
    assert.deepEqual([list.input, list.sent], ['hello', 'return { n: 1 };']);
  });

  it('leaves out what has over 16 KiB, and answers each value alone whatever its size', async () => {
    const { get } = await execute(
      [
        code('large', 'return Array.from({ length: 300_000 }, (_, i) => i % 10);'),
        passthrough('same'),
        loop([code('sum', 'return input.length ?? input;')]),
      ],
      {},
    );
    const { body } = await get('/blocks/same');
    const text = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => i % 10));
    assert.deepEqual(
      [body.input, body.inputBytes, body.sent, body.sentBytes, body.output, body.outputBytes],
      [null, text.length, null, 0, null, text.length],
    );
    for (const value of ['/blocks/large/output', '/blocks/same/input', '/blocks/same/output']) {
      const { body: whole } = await get(value);
      assert.equal(JSON.stringify(whole).length, text.length, value);
    }
    const none = await get('/blocks/same/sent');
    assert.deepEqual([none.status, none.body.detail.code], [404, 'NOT_FOUND']);
  });

  it('finds a block of a loop by its key, and has no output of one that failed', async () => {
    const { get } = await execute([
      code('list', 'return ["a", "b"];'),
      loop([code('item', 'if (input === "b") throw new Error("no"); return input + "!";')]),
    ]);
    const first = (await get('/blocks/item%230')).body;
    assert.deepEqual([first.key, first.iterations, first.input, first.output], ['item#0', [0], 'a', 'a!']);
    const second = (await get('/blocks/item%231')).body;
    assert.deepEqual(
      [second.status, second.code, second.input, second.output, second.outputBytes],
      ['failed', 'CODE_ERROR', 'b', null, 0],
    );
    assert.equal((await get('/blocks/item%231/output')).status, 404);
    assert.equal((await get('/blocks/item%231/input')).body, 'b');
  });

  it('shows the last execution of a block that several calls executed, and an earlier one by its call', async () => {
    const flow = await weir.createFlow(weir.tenant, [code('a', 'return message;')]);
    const { key } = weir.tenant;
    const client = await createStepClient(weir, weir.tenant);
    const step = (executionId: string | null, message: string) =>
      client.step(flow, { executionId, stepIndex: 0, message });
    const [started] = await step(null, 'one');
    const executionId: string = started?.data.executionId;
    await step(executionId, 'two');
    const get = (rest: string) => weir.call('GET', `${flow}/jobs/${executionId}/blocks${rest}`, { key });
    const { body } = await get('');
    assert.equal(body.blocks.length, 2);
    assert.equal((await get('/a')).body.output, 'two');
    const { body: earlier } = await get(`/a?call=${body.blocks[0].callId}`);
    assert.equal(earlier.output, 'one');
    assert.equal((await get(`/a/output?call=${body.blocks[0].callId}`)).body, 'one');
    assert.equal((await get(`/a?call=${randomUUID()}`)).status, 404);
  });

  it('answers 404 for keys that the run has not, and 422 for wrong parameters', async () => {
    const { get, flow } = await execute([passthrough('a')]);
    const other = await execute([passthrough('b')]);
    for (const key of ['b', 'a%230', '%00', '%F0%9F%92%A9', 'a'.repeat(2_000)]) {
      const { status, body } = await get(`/blocks/${key}`);
      assert.deepEqual([status, body.detail.code], [404, 'NOT_FOUND'], key);
    }
    const { key } = weir.tenant;
    const foreign = await weir.call('GET', `${flow}/jobs/${other.body.executionId}/blocks/b`, { key });
    assert.deepEqual([foreign.status, foreign.body.detail.code], [404, 'RUN_NOT_FOUND']);
    const cursor = `${other.body.executionId}:b`;
    for (const [query, field] of [
      ['?cursor=x', 'cursor'],
      [`?cursor=${cursor}`, 'cursor'],
      [`?cursor=${other.body.executionId}:%00`, 'cursor'],
      ['?limit=0', 'limit'],
      ['/a?call=x', 'call'],
      ['/a?cal=x', 'cal'],
    ]) {
      const { status, body } = await get(`/blocks${query}`);
      assert.deepEqual([status, body.detail.errors?.[0].field], [422, field], query);
    }
  });
});

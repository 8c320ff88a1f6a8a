import assert from 'node:assert/strict';
import { code, llm, passthrough } from '../../blocks.ts';
import { respond } from '../../fakes/model-server.ts';
import { readMessages, type SseMessage } from '../../sse.ts';
import { waitUntil } from '../../wait-until.ts';
import { type EventsWeir, startEventsWeir } from './events-harness.ts';

describe('a run at work', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  const underWay = async (flow: string, executionId: string) =>
    (await weir.read(flow, executionId)).body.blocksUnderWay;
  const readAll = async (flow: string, executionId: string) => {
    const events: SseMessage[] = [];
    for await (const event of readMessages(await weir.open(flow, executionId))) events.push(event);
    return events;
  };
  const refused = (headers: Record<string, string>) =>
    respond(503, { error: { message: 'overloaded' } }, headers);

  it('names the block that takes long, and no longer when it has ended', async () => {
    const { flow, executionId, release } = await weir.runUntilRelease();
    const [block] = await waitUntil(async () => {
      const blocks = await underWay(flow, executionId);
      return blocks.length > 0 && blocks;
    });
    const { startedAt, ...rest } = block;
    assert.ok(Date.parse(startedAt));
    assert.deepEqual(rest, {
      step_id: 'second',
      key: 'second',
      name: 'second',
      processor_type: 'llm',
      status: 'running',
      attempts: 1,
    });
    release();
    const { body } = await weir.finish(flow, executionId, weir.tenant.key);
    assert.equal(body.blocksUnderWay, undefined);
    assert.equal(body.blocks.length, 3);
    const left = weir.db
      .selectFrom('block_under_way')
      .where('execution_id', '=', executionId)
      .select('block_key');
    await waitUntil(async () => (await left.execute()).length === 0);
  });

  it('names the code that takes long, in its iteration', async () => {
    const slow = code('slow', 'for (;;);', { processor_config: { timeout_ms: 60_000 } });
    const flow = await weir.createFlow(weir.tenant, [
      code('list', 'return [1];'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 1, body: [slow] },
    ]);
    const executionId = await weir.start(flow);
    let started: SseMessage['data'];
    for await (const { event, data } of readMessages(await weir.open(flow, executionId))) {
      started = data;
      if (event === 'block_started' && data.step_id === 'slow') break;
    }
    assert.equal((await weir.read(flow, executionId)).body.status, 'started');
    assert.deepEqual(started, {
      step_id: 'slow',
      key: 'slow#0',
      iterations: [0],
      name: 'slow',
      processor_type: 'code',
    });
    await weir.cancel(flow, executionId);
  });

  it('tells what the provider said that refused a block, how often, and when it is asked again', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    weir.models.will(refused({ 'retry-after': '50' }));
    const executionId = await weir.start(flow);
    const [block] = await waitUntil(async () => {
      const blocks = await underWay(flow, executionId);
      return blocks?.[0]?.status === 'retrying' && blocks;
    });
    assert.equal(block.attempts, 1);
    assert.match(block.errorMessage, /demo\/chat is unavailable \(status 503\).*overloaded/);
    assert.ok(Date.parse(block.nextAttemptAt) > Date.parse(block.startedAt));
    const stream = readMessages(await weir.open(flow, executionId));
    const told: SseMessage[] = [];
    for await (const event of stream) {
      told.push(event);
      if (event.event === 'block_retrying') break;
    }
    const { errorMessage, nextAttemptAt, attempts } = block;
    const place = { step_id: 'ask', key: 'ask', name: 'ask', processor_type: 'llm' };
    assert.deepEqual(
      told.slice(1).map(({ id, event, data }) => [id, event, data]),
      [
        ['', 'block_started', place],
        ['', 'block_retrying', { ...place, attempts, errorMessage, nextAttemptAt }],
      ],
    );
    await weir.cancel(flow, executionId);
  });

  it('counts the attempt that follows a refusal, and keeps the words of the refusal', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', 'x', 'demo/chat')]);
    weir.models.will(refused({ 'retry-after-ms': '1' }), () => undefined);
    const executionId = await weir.start(flow);
    const [block] = await waitUntil(async () => {
      const blocks = await underWay(flow, executionId);
      return blocks?.[0]?.attempts === 2 && blocks;
    });
    assert.equal(block.status, 'running');
    assert.match(block.errorMessage, /overloaded/);
    await weir.cancel(flow, executionId);
  });

  it('says of every block that it starts before it says how it ended, however short it is', async () => {
    const { flow, executionId } = await weir.run([passthrough('a'), passthrough('b')]);
    const events = await readAll(flow, executionId);
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.key]),
      [
        ['run_started', undefined],
        ['block_started', 'a'],
        ['block_completed', 'a'],
        ['block_started', 'b'],
        ['block_completed', 'b'],
        ['run_completed', undefined],
      ],
    );
  });

  describe('GET …/jobs/{executionId}?wait=', () => {
    const wait = (flow: string, executionId: string, query: string, key = weir.tenant.key) =>
      weir.call('GET', `${flow}/jobs/${executionId}?${query}`, { key });

    it('answers when the run has ended', async () => {
      const { flow, executionId, release } = await weir.runUntilRelease();
      const answered = wait(flow, executionId, 'wait=60');
      release();
      const { status, body } = await answered;
      assert.deepEqual([status, body.status, body.result], [200, 'completed', 'done']);
    });

    it('answers with the run as it is when the time is over', async () => {
      const { flow, executionId, release } = await weir.runUntilRelease();
      const { status, body } = await wait(flow, executionId, 'wait=1');
      assert.deepEqual([status, body.status], [200, 'started']);
      release();
      await weir.finish(flow, executionId, weir.tenant.key);
      assert.equal((await wait(flow, executionId, 'wait=60')).body.status, 'completed');
    });

    it('answers 401 when the key was revoked in the meantime', async () => {
      const { flow, executionId, release } = await weir.runUntilRelease();
      const other = await weir.createTenant();
      await weir.db
        .updateTable('api_key')
        .set({ project_id: weir.tenant.projectId })
        .where('key_id', '=', other.keyId)
        .execute();
      const answered = wait(flow, executionId, 'wait=60', other.key);
      await waitUntil(async () => {
        const used = weir.db.selectFrom('api_key').select('last_used_at').where('key_id', '=', other.keyId);
        return (await used.executeTakeFirstOrThrow()).last_used_at;
      });
      await weir.db
        .updateTable('api_key')
        .set({ revoked_at: new Date() })
        .where('key_id', '=', other.keyId)
        .execute();
      release();
      assert.equal((await answered).status, 401);
    });

    it('is 422 for anything but whole seconds up to 60, and for unknown parameters', async () => {
      const { flow, executionId } = await weir.run([passthrough('a')]);
      for (const query of ['wait=61', 'wait=-1', 'wait=1.5', 'wait=', 'receipt=no', 'later=1'])
        assert.equal((await wait(flow, executionId, query)).status, 422, query);
    });
  });

  describe('?receipt=false', () => {
    it('leaves the block executions out of the answers of /jobs and /execute', async () => {
      const { flow, executionId, body } = await weir.run([passthrough('a')]);
      const { key } = weir.tenant;
      const { blocks, ...state } = body;
      assert.equal(blocks.length, 1);
      const polled = await weir.call('GET', `${flow}/jobs/${executionId}?receipt=false`, { key });
      assert.deepEqual(polled.body, state);
      const request = { key, body: { message: 'm' } };
      const executed = await weir.call('POST', `${flow}/execute?receipt=false`, request);
      assert.deepEqual(
        [executed.body.result, executed.body.blocks, executed.body.cost],
        ['m', undefined, undefined],
      );
      assert.equal((await weir.call('POST', `${flow}/execute`, request)).body.blocks.length, 1);
      assert.equal((await weir.call('POST', `${flow}/execute?receipt=no`, request)).status, 422);
    });
  });
});

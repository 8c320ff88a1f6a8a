import assert from 'node:assert/strict';
import { code, passthrough } from '../../blocks.ts';
import { type EventsWeir, startEventsWeir } from './events-harness.ts';

describe('GET …/jobs/{executionId}/events', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  it('tells a finished run from its start to its end, with each block as GET …/jobs has it', async () => {
    const { flow, executionId, body } = await weir.run([
      code('list', 'return [1, 2];'),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 5, body: [passthrough('item')] },
    ]);
    const events = await weir.list(flow, executionId);
    assert.deepEqual(
      events.map(({ event, data }) => [event, data.key]),
      [
        ['run_started', undefined],
        ['block_completed', 'list'],
        ['block_completed', 'item#0'],
        ['block_completed', 'item#1'],
        ['run_completed', undefined],
      ],
    );
    const { result, deliveries, ...state } = body;
    assert.deepEqual(
      events.slice(1, -1).map(({ data }) => data),
      state.blocks,
    );
    assert.deepEqual(events.at(-1)?.data, state);
    assert.deepEqual([events[0]?.data.status, events[0]?.data.executionId], ['started', executionId]);
    for (const [index, { id }] of events.entries()) assert(index === 0 || id > (events[index - 1]?.id ?? 0));
  });

  it('tells block_failed and run_failed', async () => {
    const { flow, executionId } = await weir.run([code('bad', 'throw new Error("no")')]);
    const [, block, end, ...rest] = await weir.list(flow, executionId);
    assert.deepEqual([block?.event, block?.data.key], ['block_failed', 'bad']);
    assert.match(block?.data.errorMessage, /no/);
    assert.deepEqual([end?.event, end?.data.failureReason], ['run_failed', 'error']);
    assert.deepEqual(rest, []);
  });

  it('goes on after Last-Event-ID, wherever the reader was, and answers 204 when it has everything', async () => {
    const { flow, executionId } = await weir.run([passthrough('a'), passthrough('b')]);
    const events = await weir.list(flow, executionId);
    assert.equal(events.length, 4);
    for (const [index, { id }] of events.slice(0, -1).entries())
      assert.deepEqual(await weir.list(flow, executionId, id), events.slice(index + 1));
    assert.equal((await weir.open(flow, executionId, events.at(-1)?.id)).status, 204);

    // As event-source-polyfill asks.
    const query = `lastEventId=${events.at(-1)?.id}`;
    const { key } = weir.tenant;
    assert.equal(
      (await weir.call('GET', `${flow}/jobs/${executionId}/events?${query}`, { key })).status,
      204,
    );

    const empty = await weir.run([]);
    const [first, end] = await weir.list(empty.flow, empty.executionId);
    assert.deepEqual(await weir.list(empty.flow, empty.executionId, first?.id), [end]);
    assert.equal((await weir.open(empty.flow, empty.executionId, end?.id)).status, 204);
  });

  it('tells all blocks of a run of hundreds, wherever its reader goes on', async () => {
    const items = Array.from({ length: 300 }, (_, index) => index);
    const { flow, executionId, body } = await weir.run([
      code('list', `return ${JSON.stringify(items)};`),
      { type: 'loop', step_id: 'each', name: 'each', max_iterations: 300, body: [passthrough('item')] },
    ]);
    assert.equal(body.status, 'completed');
    const events = await weir.list(flow, executionId);
    assert.deepEqual(
      events.map(({ data }) => data.key),
      [undefined, 'list', ...items.map((item) => `item#${item}`), undefined],
    );
    for (const index of [0, 1, 40]) {
      const { id } = events[index] as (typeof events)[number];
      assert.deepEqual(await weir.list(flow, executionId, id), events.slice(index + 1));
    }
  });

  it('tells everything to a reader whose Last-Event-ID is beyond the events of the run', async () => {
    const { flow, executionId } = await weir.run([passthrough('a')]);
    const events = await weir.list(flow, executionId);
    const beyond = Number(events.at(-1)?.id) + 1;
    assert.deepEqual(await weir.list(flow, executionId, beyond), events);
    assert.deepEqual(await weir.list(flow, executionId, 2 ** 40), events);
  });

  it('is not buffered or transformed on its way', async () => {
    const { flow, executionId } = await weir.run([]);
    const { headers, body } = await weir.open(flow, executionId);
    await body?.cancel();
    assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-cache, no-transform');
    assert.equal(headers.get('x-accel-buffering'), 'no');
  });

  for (const value of ['-1', 'x', '1.5', '9'.repeat(20)])
    it(`answers 422 for Last-Event-ID: ${value}`, async () => {
      const { flow, executionId } = await weir.run([]);
      const response = await weir.open(flow, executionId, value);
      assert.equal(response.status, 422);
      const { detail } = (await response.json()) as { detail: { errors: { field: string }[] } };
      assert.equal(detail.errors[0]?.field, 'Last-Event-ID');
    });
});

import assert from 'node:assert/strict';
import { ApiError, unreachable } from '../../../../console/api/api-error.ts';
import type { FollowOptions } from '../../../../console/api/follow-options.ts';
import { toPlan } from '../../../../console/flow/try/try-run.ts';
import { type TryServer, TryStore } from '../../../../console/flow/try/try-store.ts';

const PAUSE = {
  ...{ stepId: 'ask', stepIndex: 0, iterationsUsed: 1, toolCallMessages: [], toolCalls: [] },
  ...{ accumulatedOutputs: {}, resumeState: null },
};
const COMPLETED = { status: 'completed', cost: 2, result: 'done', blocks: [] };

/** A service whose responses the test controls: it accepts a job when asked to, and sends events. */
function setUp() {
  const accepted = Promise.withResolvers<string>();
  const cancelled: string[] = [];
  const state = Promise.withResolvers<object>();
  // Tests that do not use it leave it pending.
  state.promise.catch(() => undefined);
  const streams: { options: FollowOptions; end: (error?: Error) => void }[] = [];
  const follow = (options: FollowOptions) =>
    new Promise<void>((resolve, reject) => {
      streams.push({ options, end: (error) => (error ? reject(error) : resolve()) });
    });
  const server = {
    startJob: () => accepted.promise,
    readJob: () => state.promise,
    cancelJob: async (executionId: string) => void cancelled.push(executionId),
    followJob: (_executionId: string, options: FollowOptions) => follow(options),
    followStep: (_version: number, _body: object, options: FollowOptions) => follow(options),
  } as unknown as TryServer;
  const store = new TryStore(server);
  const send = (event: string, data: object) => streams.at(-1)?.options.onEvent({ event, data });
  return { store, server, accepted, cancelled, state, streams, send };
}

const plan = (...ids: string[]) => toPlan(ids.map((id) => ({ step_id: id, name: id, type: 'sequential' })));

describe('the store of a run that is tried', () => {
  it('cancels the run as soon as it is accepted', async () => {
    const { store, accepted, cancelled } = setUp();
    void store.start(0, 'whole', { message: '' });
    const cancel = store.cancel();
    assert.deepEqual([cancelled, store.run()?.status], [[], 'starting']);
    accepted.resolve('run');
    await cancel;
    assert.deepEqual(cancelled, ['run']);
  });

  it('cancels a session as soon as it has an id', async () => {
    const { store, cancelled, send } = setUp();
    void store.start(0, 'steps', { message: '' });
    const cancel = store.cancel();
    send('run_started', { executionId: 'session', steps: [] });
    await cancel;
    assert.deepEqual(cancelled, ['session']);
  });

  it('gives up a session without a response on cancel, with an unknown outcome', async () => {
    const { store, cancelled, streams } = setUp();
    void store.start(0, 'steps', { message: '' });
    const cancel = store.cancel();
    await streams[0]?.options.onInterrupted();
    await cancel;
    assert.deepEqual(
      [streams[0]?.options.signal.aborted, cancelled, store.run()?.status],
      [true, [], 'unknown'],
    );
    assert.match(store.run()?.refused?.message ?? '', /the run may have started/);
  });

  it('cancels a run that a refusal of its session has named', async () => {
    const { store, cancelled, streams } = setUp();
    void store.start(0, 'steps', { message: '' });
    streams[0]?.options.onNamed?.('run');
    await store.cancel();
    assert.deepEqual(cancelled, ['run']);
  });

  it('keeps the reason of a refusal after cancel; there is nothing to cancel', async () => {
    const { store, accepted, cancelled } = setUp();
    const start = store.start(0, 'whole', { message: '' });
    const cancel = store.cancel();
    accepted.reject(new Error('The flow is not complete.'));
    await Promise.all([start, cancel]);
    assert.deepEqual(cancelled, []);
    assert.equal(store.run()?.refused?.message, 'The flow is not complete.');
  });

  it('does not call a run without a response failed', async () => {
    const { store, accepted } = setUp();
    const start = store.start(0, 'whole', { message: '' });
    accepted.reject(unreachable('POST'));
    await start;
    assert.equal(store.run()?.status, 'unknown');
    const { store: other, streams } = setUp();
    const session = other.start(0, 'steps', { message: '' });
    streams[0]?.end(new ApiError(502, { code: 'UNKNOWN', message: 'away' }));
    await session;
    assert.equal(other.run()?.status, 'unknown');
  });

  it('does not cancel a run that has replaced the cancelled one', async () => {
    const { store, cancelled, send } = setUp();
    void store.start(0, 'steps', { message: 'one' });
    const cancel = store.cancel();
    void store.start(0, 'steps', { message: 'other' });
    send('run_started', { executionId: 'other', steps: [] });
    await cancel;
    assert.deepEqual([cancelled, store.run()?.executionId], [[], 'other']);
  });

  it('keeps the pending tool calls when the receipt cannot be read', async () => {
    const { store, state, streams, send } = setUp();
    const start = store.start(0, 'steps', { message: '' });
    send('run_started', { executionId: 'session', steps: [] });
    send('step_paused_for_tool_calls', PAUSE);
    state.reject(new Error('The service cannot be reached.'));
    streams[0]?.end();
    await start;
    assert.deepEqual(
      [store.run()?.status, store.run()?.pause, store.run()?.refused],
      ['tools', PAUSE, undefined],
    );
  });

  it('counts the cost and the tokens of all calls of a session', async () => {
    const { store, state, streams, send } = setUp();
    const start = store.start(0, 'steps', { message: '' });
    send('run_started', { executionId: 'session', steps: [] });
    send('step_paused_for_tool_calls', PAUSE);
    const usages = [
      { promptTokens: 6, completionTokens: 35 },
      { promptTokens: 8, completionTokens: 9 },
    ];
    state.resolve({ status: 'tool_calls_required', cost: 0.01, blocks: usages.map((usage) => ({ usage })) });
    streams[0]?.end();
    await start;
    assert.deepEqual([store.run()?.cost, store.run()?.tokens], [0.01, 58]);
  });

  it("forks with the steps of the version that ran, or with the current draft's", async () => {
    const { store, server } = setUp();
    const [ran, now] = [plan('a', 'b'), plan('a')];
    const fork = async (version: number, step: number) => {
      const cursor = { version, accumulatedOutputs: {}, message: 'm', parameters: {} };
      Object.assign(server, { readFork: async () => cursor, readPlan: async () => ran });
      await store.fork('run', step, now);
      return store.run()?.plan;
    };
    assert.deepEqual(await fork(2, 1), ran);
    assert.deepEqual(await fork(0, 0), now);
    await assert.rejects(fork(0, 1), /no step at this place/);
  });

  it('keeps typed tool results when sending them is refused', async () => {
    const { store, streams, send } = setUp();
    void store.start(0, 'steps', { message: '' });
    send('run_started', { executionId: 'session', steps: [] });
    send('step_paused_for_tool_calls', PAUSE);
    store.typeResult('call', 'typed');
    const answer = store.answer([{ tool_call_id: 'call', content: 'typed' }]);
    streams.at(-1)?.end(new Error('The run has gone on.'));
    await answer;
    const { status, refused, typedResults } = store.run() ?? {};
    assert.deepEqual([status, refused?.message], ['tools', 'The run has gone on.']);
    assert.deepEqual(typedResults, { call: 'typed' });
  });

  it('has completed according to its events, even when its result cannot be read', async () => {
    const { store, accepted, state, streams, send } = setUp();
    const start = store.start(0, 'whole', { message: '' });
    accepted.resolve('run');
    await accepted.promise;
    send('run_completed', COMPLETED);
    state.reject(new Error('The service cannot be reached.'));
    streams[0]?.end();
    await start;
    assert.equal(store.run()?.status, 'completed');
    assert.match(store.run()?.refused?.message ?? '', /cannot be reached/);
  });
});

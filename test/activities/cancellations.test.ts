import assert from 'node:assert/strict';
import { once } from 'node:events';
import { CallStopped, createCancellations } from '../../activities/cancellations.ts';

const untilAborted = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
};

describe('cancellations', () => {
  it('abort all blocks in flight of a call, and of no other', async () => {
    const cancellations = createCancellations(new Map());
    const none = new AbortController();
    const blocks = [1, 2].map(() => cancellations.run('call', none.signal, untilAborted));
    const other = cancellations.run('other', none.signal, untilAborted);
    const stopped = cancellations.stop('call');
    for (const block of blocks) await assert.rejects(block, CallStopped);
    await stopped;
    none.abort(new Error('the worker stops'));
    await assert.rejects(other, /the worker stops/);
  });

  it('abort all blocks as those of a worker that stops', async () => {
    const cancellations = createCancellations(new Map());
    const { signal } = new AbortController();
    const blocks = ['call', 'other'].map((callId) => cancellations.run(callId, signal, untilAborted));
    cancellations.drain();
    for (const block of blocks) await assert.rejects(block, { message: 'WORKER_SHUTDOWN' });
  });

  it('have a block that begins later read its call anew', async () => {
    const contexts = new Map([['call', 'cached']]);
    const cancellations = createCancellations(contexts);
    void cancellations.stop('call');
    assert.equal(contexts.size, 0);
    const { signal } = new AbortController();
    assert.equal(await cancellations.run('call', signal, async ({ aborted }) => aborted), false);
  });
});

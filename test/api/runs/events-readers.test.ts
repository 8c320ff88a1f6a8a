// Readers who are there while a run goes on, leave, do not read, or may no longer.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mintApiKey } from '../../../api/auth/api-key.ts';
import { recordBlockRun } from '../../../db/runs/block-runs.ts';
import { insertApiKey, revokeApiKey } from '../../../db/tenants/api-keys.ts';
import { passthrough } from '../../blocks.ts';
import { startWeir } from '../../harness.ts';
import { readEvents, readMessages, type SseEvent, type SseMessage } from '../../sse.ts';
import { type EventsWeir, startEventsWeir } from './events-harness.ts';

const BLOCKS = 12;

describe('GET …/jobs/{executionId}/events', () => {
  let weir: EventsWeir;
  before(async () => {
    weir = await startEventsWeir();
  });
  after(() => weir.stop());

  it('pushes what happens while the run goes on, then ends', async () => {
    const { flow, executionId, release } = await weir.runUntilRelease();
    const events = readEvents(await weir.open(flow, executionId));
    const next = async () => (await events.next()).value as SseEvent;
    assert.equal((await next()).event, 'run_started');
    assert.equal((await next()).data.key, 'first');
    release();
    assert.equal((await next()).data.key, 'second');
    assert.equal((await next()).data.key, 'third');
    assert.equal((await next()).event, 'run_completed');
    assert.equal((await events.next()).done, true);
  });

  it('goes on without a reader who left, and tells them the rest when they are back', async () => {
    const { flow, executionId, release } = await weir.runUntilRelease();
    const leaving = new AbortController();
    const events = readEvents(await weir.open(flow, executionId, undefined, leaving.signal));
    const seen = [(await events.next()).value, (await events.next()).value] as SseEvent[];
    leaving.abort();
    await assert.rejects(events.next(), { name: 'AbortError' });
    release();
    await weir.finish(flow, executionId, weir.tenant.key);
    const rest = await weir.list(flow, executionId, seen.at(-1)?.id);
    assert.deepEqual(
      rest.map(({ data }) => data.key),
      ['second', 'third', undefined],
    );
  });

  it('is not held up by a reader who does not read', async () => {
    const { flow, executionId } = await weir.run([passthrough('a')]);
    // Together more than the buffers on the way to a reader hold.
    const name = 'n'.repeat(1024 * 1024);
    for (let index = 0; index < BLOCKS; index += 1)
      await recordBlockRun(weir.db, weir.tenant, {
        callId: executionId,
        blockKey: `b${index}`,
        stepId: `b${index}`,
        name,
        processorType: 'passthrough',
        input: { ref: '$message' },
        output: '1',
        attempts: 1,
        startedAt: performance.now(),
      });
    const { hostname, port } = new URL(weir.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /api/v1/seq/${flow}/jobs/${executionId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${weir.tenant.key}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.pause();
    assert.equal((await weir.list(flow, executionId)).length, BLOCKS + 3);
    assert(socket.bytesRead < BLOCKS * name.length);
    socket.destroy();
  });

  it('beats while nothing happens, and ends there for a key that was revoked', async () => {
    const { flow, executionId, release } = await weir.runUntilRelease();
    const { plaintext, keyId, secretHmac } = mintApiKey('live', weir.config.apiKeyPepper);
    const { projectId } = weir.tenant;
    await insertApiKey(weir.db, { projectId, keyId, environment: 'live', name: 'leaves', secretHmac });
    const revoked = readEvents(
      await fetch(`${weir.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
        headers: { authorization: `Bearer ${plaintext}` },
      }),
    );
    await revokeApiKey(weir.db, projectId, keyId);
    const { body } = await weir.open(flow, executionId);
    assert(body);
    const chunks = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.endsWith('\n\n:\n'); ) {
      const { value, done } = await chunks.read();
      assert(!done);
      text += value;
    }
    await chunks.cancel();
    const names: string[] = [];
    for await (const { event, data } of revoked)
      names.push(event === 'stream_interrupted' ? `${event} ${data.reason}` : event);
    assert.deepEqual(names, ['run_started', 'block_completed', 'stream_interrupted unauthorized']);
    release();
    await weir.finish(flow, executionId, weir.tenant.key);
  });

  it('ends when the process stops, so that the reader goes on elsewhere', async () => {
    const other = await startWeir({ worker: false });
    const owner = await other.createTenant();
    const flow = await other.createFlow(owner, [passthrough('a')]);
    const { executionId } = (
      await other.call('POST', `${flow}/jobs`, { key: owner.key, body: { message: '' } })
    ).body;
    const events = readMessages(
      await fetch(`${other.url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
        headers: { authorization: `Bearer ${owner.key}` },
      }),
    );
    assert.equal((await events.next()).value?.event, 'run_started');
    const stopped = other.stop();
    const { id, event, data } = (await events.next()).value as SseMessage;
    assert.deepEqual(
      [id, event, data.executionId, data.reason],
      ['', 'stream_interrupted', executionId, 'stopping'],
    );
    assert.equal((await events.next()).done, true);
    await stopped;
  });
});

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createStepClient, names } from '../api/runs/step-client.ts';
import { asking, useToolCalls } from '../api/runs/tool-calls-harness.ts';
import { llm, passthrough } from '../blocks.ts';
import { answer } from '../fakes/model-server.ts';
import { readMessages, type SseMessage } from '../sse.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';

describe('an API process that is asked to stop', () => {
  const h = useToolCalls();

  it('answers what it has in hand, and closes the connection after it', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const api = await startApiProcess(h.weir);
    let asked: ServerResponse | undefined;
    h.models.will((response) => {
      asked = response;
    });
    const call = h.models.nextCall();
    const waiting = h.execute(flow, {}, { url: api.url });
    await call;
    const stopped = api.stop();
    await waitUntil(() =>
      fetch(`${api.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    answer('done')(asked as ServerResponse);
    const { status, headers, body } = await waiting;
    assert.deepEqual([status, body.result, headers.get('connection')], [200, 'done', 'close']);
    assert.equal(await stopped, 0);
  });

  it('ends the streams of /step as they were to end, and those of jobs at once, in words', async () => {
    const flow = await h.weir.createFlow(h.tenant, [passthrough('a'), llm('ask', 'x', 'demo/chat')]);
    const api = await startApiProcess(h.weir);
    const client = await createStepClient(h.weir, h.tenant);
    let asked: ServerResponse | undefined;
    h.models.will((response) => {
      asked = response;
    });
    const call = h.models.nextCall();
    const whole = { stepIndex: 0, message: 'm', runRemaining: true };
    const stepping = client.read(await client.open(flow, whole, { url: api.url }));
    const seen = [(await stepping.next()).value as SseMessage];
    await call;
    const { executionId } = seen[0]?.data ?? {};
    const events = (url: string, last?: string) =>
      fetch(`${url}/api/v1/seq/${flow}/jobs/${executionId}/events`, {
        headers: { authorization: `Bearer ${h.tenant.key}`, ...(last && { 'last-event-id': last }) },
      });
    const following = withoutBegun(readMessages(await events(api.url)));
    const followed = [
      (await following.next()).value as SseMessage,
      (await following.next()).value as SseMessage,
    ];

    const stopped = api.stop();
    const told = (await following.next()).value as SseMessage;
    assert.deepEqual([told.event, told.id, told.data.reason], ['stream_interrupted', '', 'stopping']);
    assert.equal((await following.next()).done, true);
    answer('done')(asked as ServerResponse);
    for await (const event of stepping) seen.push(event);
    assert.deepEqual(names(seen), [
      ...['run_started', 'block_started', 'block_completed', 'step_progress'],
      ...['block_started', 'block_completed', 'run_completed'],
    ]);
    assert.equal(await stopped, 0);
    // Elsewhere, it goes on after what was seen.
    const elsewhere = readMessages(await events(h.weir.url, followed.at(-1)?.id));
    for await (const event of withoutBegun(elsewhere)) followed.push(event);
    assert.deepEqual(names(followed), ['run_started', 'block_completed', 'block_completed', 'run_completed']);
  });
});

/** Leaves out that blocks began, which a reader who comes back is told again. */
async function* withoutBegun(messages: AsyncGenerator<SseMessage>): AsyncGenerator<SseMessage> {
  for await (const message of messages) if (message.event !== 'block_started') yield message;
}

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { asking, useToolCalls } from '../api/tool-calls-harness.ts';
import { answer } from '../fakes/model-server.ts';
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
    while (await fetch(`${api.url}/healthz`).catch(() => undefined));
    answer('done')(asked as ServerResponse);
    const { status, headers, body } = await waiting;
    assert.deepEqual([status, body.result, headers.get('connection')], [200, 'done', 'close']);
    assert.equal(await stopped, 0);
  });
});

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { asking, useToolCalls } from '../api/runs/tool-calls-harness.ts';
import { answer } from '../fakes/model-server.ts';
import { waitUntil } from '../wait-until.ts';
import { startApiProcess } from './api-process.ts';
import { CRASHING, startProgram } from './processes.ts';

const LOGGED = /"message":"a bug".*"msg":"An uncaught error ends this process\."/;

describe('an uncaught error', () => {
  const h = useToolCalls();

  it('is logged and ends an API process with 1, after it has answered what it has in hand', async () => {
    const flow = await h.weir.createFlow(h.tenant, [asking('ask')]);
    const api = await startApiProcess(h.weir, CRASHING);
    let asked: ServerResponse | undefined;
    h.models.will((response) => {
      asked = response;
    });
    const call = h.models.nextCall();
    const waiting = h.execute(flow, {}, { url: api.url });
    await call;
    const crashed = api.crash();
    await waitUntil(() =>
      fetch(`${api.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    answer('done')(asked as ServerResponse);
    const { status, body } = await waiting;
    assert.deepEqual([status, body.result], [200, 'done']);
    assert.equal(await crashed, 1);
    assert.match(api.errors(), LOGGED);
  });

  for (const file of ['worker/worker.ts', 'api/serve-with-worker.ts'])
    it(`is logged and ends ${file} with 1`, async () => {
      const program = await startProgram(h.weir, file, CRASHING);
      assert.equal(await program.crash(), 1);
      assert.match(program.errors(), LOGGED);
    });
});

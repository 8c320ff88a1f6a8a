import assert from 'node:assert/strict';
import { asking, type Body, resumeOf, toolCall, useToolCalls } from '../api/runs/tool-calls-harness.ts';
import { code } from '../blocks.ts';
import { answer, callTools, hang } from '../fakes/model-server.ts';
import { startProgram } from './processes.ts';

describe('a resumed run whose worker is killed -9 while its model is asked', () => {
  const h = useToolCalls({ worker: false, env: { WEIR_HEARTBEAT_TIMEOUT: '5' } });

  it('goes on with another worker: what completed is not run again, and the answer is charged once', async () => {
    const start = () =>
      startProgram(h.weir, 'worker/worker.ts', { OPENAI_BASE_URL: h.models.provider.baseUrl });
    const flow = await h.weir.createFlow(h.tenant, [
      code('first', 'return Math.random();'),
      asking('ask', '{{previous_output}}'),
      code('last', 'return [input];'),
    ]);
    const doomed = await start();
    let second: Awaited<ReturnType<typeof start>> | undefined;
    try {
      h.models.will(callTools([toolCall('a')]), hang);
      const paused = await h.pause(flow);
      const asked = h.models.nextCall();
      const resumed = h.execute(flow, resumeOf(paused));
      await asked;
      await doomed.kill();
      h.models.will(answer('done'));
      second = await start();
      const { body } = await resumed;
      assert.deepEqual([body.status, body.result], ['completed', ['done']]);
      const conversations = h.models.calls.slice(1).map((call) => call.body.messages);
      assert.deepEqual(conversations, Array(2).fill(resumeOf(paused).toolCallMessages));
      const { blocks } = (await h.read(flow, paused.executionId)).body;
      assert.deepEqual(
        blocks.map(({ key, status, attempts }: Body) => [key, status, attempts]),
        [
          ['first', 'completed', 1],
          ['ask', 'paused', 1],
          ['ask', 'completed', 2],
          ['last', 'completed', 1],
        ],
      );
      assert.equal((await h.charges(paused.executionId)).length, 2);
    } finally {
      await doomed.kill();
      await second?.kill();
    }
  });
});

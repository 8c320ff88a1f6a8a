import assert from 'node:assert/strict';
import { createInProcessRuns } from '../../activities/in-process-runs.ts';
import { llm, passthrough } from '../blocks.ts';
import { answer, startFakeModelServer } from '../fakes/model-server.ts';
import { startWeir } from '../harness.ts';

describe('a run', () => {
  it('tells its process when it begins to wait for a model, and not while it runs', async () => {
    const waiting: string[] = [];
    const inProcessRuns = { ...createInProcessRuns(), freePlace: (callId: string) => waiting.push(callId) };
    const models = await startFakeModelServer();
    const weir = await startWeir({ inProcessRuns, env: { DEMO_BASE_URL: models.provider.baseUrl } });
    try {
      const tenant = await weir.createTenant();
      const run = async (...steps: Parameters<typeof weir.createFlow>[1]) => {
        const path = await weir.createFlow(tenant, steps);
        const body = { message: 'm' };
        const { body: run } = await weir.call('POST', `${path}/execute`, { key: tenant.key, body });
        assert.equal(run.status, 'completed');
        return run.executionId;
      };
      await run(passthrough('a'), passthrough('b'));
      assert.deepEqual(waiting, []);
      models.will(answer('done'));
      const executionId = await run(passthrough('a'), llm('ask', 'Say: done', 'demo/chat'));
      assert.deepEqual(waiting, [executionId]);
    } finally {
      await weir.stop();
      await models.close();
    }
  });
});

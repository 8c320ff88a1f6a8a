import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const MODEL = 'gen_ai.provider.name=demo,gen_ai.request.model=chat';
const busy = respond(503, { error: { message: 'busy' } });

describe('the metric of requests to models that are made again', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  it('counts each repetition, and not the first request', async () => {
    const flow = await weir.createFlow(weir.tenant, [llm('ask', '{{message}}', 'demo/chat')]);
    const metrics = captureMetrics();
    const run = async () => {
      const ended = await weir.finish(flow, await weir.start(flow), weir.tenant.key);
      assert.equal(ended.body.status, 'completed');
      return metrics.read('weir.model.retries');
    };
    weir.models.will(answer('at once'));
    assert.deepEqual(await run(), { [MODEL]: 0 });
    weir.models.will(busy, busy, answer('at last'));
    assert.deepEqual(await run(), { [MODEL]: 2 });
    metrics.stop();
  });
});

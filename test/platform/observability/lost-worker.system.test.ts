import assert from 'node:assert/strict';
import { llm } from '../../blocks.ts';
import { answer, hang } from '../../fakes/model-server.ts';
import { startProgram } from '../../faults/processes.ts';
import { has, MODEL, startTracedWeir, type TracedWeir } from './tracing-harness.ts';

describe('the trace of a run whose worker is killed under a model call', () => {
  let weir: TracedWeir;
  before(async () => {
    weir = await startTracedWeir({ worker: false });
  });
  after(() => weir.stop());

  it('goes on with the worker that makes the call again', async () => {
    const { tenant, models, env, otlp } = weir;
    const flow = await weir.createFlow(tenant, [llm('ask', '{{message}}', MODEL)]);
    models.will(hang);
    const first = await startProgram(weir, 'worker/worker.ts', env);
    const asked = models.nextCall();
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
    await asked;
    await first.kill();
    models.will(answer('again'));
    const second = await startProgram(weir, 'worker/worker.ts', env);
    const ended = await weir.finish(flow, body.executionId, tenant.key);
    assert.deepEqual([ended.body.status, ended.body.traceId], ['completed', body.traceId]);
    const spans = await otlp.traceWhen(body.traceId, has('RunWorkflow:runFlow', 'chat gpt-4o-mini'));
    const services = spans.map(({ resource }) => resource['service.name']);
    assert.deepEqual([...new Set(services)].sort(), ['weir-test', 'weir-worker']);
    const { traceparent } = models.calls.at(-1)?.headers ?? {};
    assert.equal(
      traceparent,
      `00-${body.traceId}-${spans.find(({ name }) => name.startsWith('chat'))?.spanId}-01`,
    );
    await second.stop();
  });
});

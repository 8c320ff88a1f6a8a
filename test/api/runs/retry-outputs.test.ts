import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { OUTPUT_MAX_BYTES } from '../../../flow/limits.ts';
import { code, llm } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const LARGE_CHARS = OUTPUT_MAX_BYTES - 2;
const LARGE = JSON.stringify('x'.repeat(LARGE_CHARS));
/** A step whose stored output is made large. */
const large = (stepId: string) => ({ ...code(stepId, 'return 1;'), name: 'large' });

describe('the outputs that a retry takes from the failed run', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  /** Runs a flow whose model call fails between `before` and the code `last`; answers the path of the run. */
  const fail = async (before: Step[], last: string) => {
    const flow = await weir.createFlow(weir.tenant, [
      ...before,
      llm('ask', 'x', 'demo/chat'),
      code('last', last),
    ]);
    weir.models.will(respond(400, { error: { message: 'not today' } }));
    const { body } = await weir.call('POST', `${flow}/execute`, {
      key: weir.tenant.key,
      body: { message: 'm' },
    });
    assert.deepEqual([body.status, body.step_id], ['failed', 'ask']);
    const steps = before.filter(({ name }) => name === 'large').map(({ step_id }) => step_id);
    if (steps.length > 0)
      await weir.db
        .updateTable('block_run')
        .set({ output: LARGE })
        .where('execution_id', '=', body.executionId)
        .where('step_id', 'in', steps)
        .execute();
    return { flow, executionId: body.executionId };
  };
  const retry = ({ flow, executionId }: { flow: string; executionId: string }) =>
    weir.call('POST', `${flow}/jobs/${executionId}/retry`, { key: weir.tenant.key });
  const finished = async (run: { flow: string; executionId: string }) => {
    weir.models.will(answer('here'));
    const { status, body } = await retry(run);
    assert.equal(status, 202, JSON.stringify(body));
    const ended = (await weir.finish(run.flow, body.executionId, weir.tenant.key)).body;
    assert.equal(ended.status, 'completed', ended.errorMessage);
    return ended.result;
  };
  const refused = async (run: { flow: string; executionId: string }, stepId: string) => {
    const { status, body } = await retry(run);
    assert.deepEqual([status, body.detail.code, body.detail.step_id], [413, 'BODY_TOO_LARGE', stepId]);
    const again = await weir.db
      .selectFrom('run')
      .select('execution_id')
      .where('repeats', '=', run.executionId)
      .execute();
    assert.deepEqual(again, []);
  };

  it('are all there for code that goes over them, or the retry is 413 and stores nothing', async () => {
    const steps = [large('a'), large('b'), code('c', 'return 5;')];
    await refused(await fail(steps, 'return Object.keys(outputs);'), 'a');
    const fits = await fail(
      [code('a', 'return 3;'), code('b', 'return 4;'), code('c', 'return 5;')],
      'return Object.keys(outputs);',
    );
    assert.deepEqual(await finished(fits), ['a', 'b', 'c', 'ask']);
  });

  it('have those that later blocks name, or the retry is 413', async () => {
    const steps = [large('a'), large('b'), code('c', 'return 5;')];
    await refused(await fail(steps, 'return outputs.a.length + outputs.b.length;'), 'a');
    assert.equal(await finished(await fail(steps, 'return outputs.a.length + outputs.c;')), LARGE_CHARS + 5);
  });

  it('need no room that nothing reads, and a small one is there beside large ones that have none', async () => {
    const run = await fail(
      [code('small', 'return 4;'), large('a'), large('b'), code('c', 'return 5;')],
      'return input;',
    );
    assert.equal(await finished(run), 'here');
    const forked = await weir.call('GET', `${run.flow}/jobs/${run.executionId}/fork?step=4`, {
      key: weir.tenant.key,
    });
    assert.deepEqual(Object.keys(forked.body.accumulatedOutputs), ['small', 'b', 'c']);
  });
});

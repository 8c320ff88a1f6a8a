import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code, llm } from '../../blocks.ts';
import { answer, respond } from '../../fakes/model-server.ts';
import { publishSteps } from '../../publish-steps.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const refuse = respond(400, { error: { message: 'not today' } });
const list = code('list', 'return ["a", "b", "c", "d", "e"];');
const ask = llm('ask', 'item {{previous_output}}', 'demo/chat');
const each = (body: Step[], more: object = {}): Step => {
  return { type: 'loop', step_id: 'each', name: 'each', max_iterations: 9, body, ...more };
};
const answers = (...texts: string[]) => texts.map((text) => answer(text));

describe('a retry of a run that failed inside a step', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  beforeEach(() => weir.models.reset());
  after(() => weir.stop());

  type Run = { flow: string; executionId: string };
  const fail = async (steps: Step[], ...before: string[]): Promise<Run> => {
    const flow = await weir.createFlow(weir.tenant, steps);
    weir.models.will(...answers(...before), refuse);
    const { key } = weir.tenant;
    const { body } = await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } });
    assert.equal(body.status, 'failed', JSON.stringify(body));
    weir.models.reset();
    return { flow, executionId: body.executionId };
  };
  /** Repeats the run; answers how the new run ended, and the prompts that the model got. */
  const repeat = async (
    { flow, executionId }: Run,
    how: string,
    ...behaviours: (string | typeof refuse)[]
  ) => {
    weir.models.reset();
    weir.models.will(...behaviours.map((text) => (typeof text === 'string' ? answer(text) : text)));
    const { key } = weir.tenant;
    const body = { version: 'production' };
    const accepted = await weir.call('POST', `${flow}/jobs/${executionId}/${how}`, { key, body });
    assert.equal(accepted.status, 202, JSON.stringify(accepted.body));
    const ended = (await weir.finish(flow, accepted.body.executionId, key)).body;
    return { ended, asked: asked(), executionId: accepted.body.executionId as string };
  };
  const asked = () =>
    weir.models.calls.map(({ body }) => (body.messages as { content: string }[]).at(-1)?.content);

  it('pays only for the items of a loop that the run has not recorded', async () => {
    const run = await fail([list, each([ask])], 'A', 'B', 'C');
    const { ended, asked, executionId } = await repeat(run, 'retry', 'D', 'E');
    assert.deepEqual([ended.status, ended.result], ['completed', ['A', 'B', 'C', 'D', 'E']]);
    assert.deepEqual(asked, ['item d', 'item e']);
    assert.equal(await weir.charges(executionId), 2);
    const pinned = ended.blocks.map(({ pinned, usage }: { pinned?: true; usage: { cost: number } }) => [
      pinned,
      usage.cost > 0,
    ]);
    assert.deepEqual(pinned, [...Array(3).fill([true, false]), ...Array(2).fill([undefined, true])]);
  });

  it('pays for none of them in a bulk retry either', async () => {
    const run = await fail([list, each([ask])], 'A', 'B', 'C');
    weir.models.will(...answers('D', 'E'));
    const { key, projectId } = weir.tenant;
    const filter = { flow: run.flow.split('/').at(-1) };
    const { body } = await weir.call('POST', `/projects/${projectId}/runs/retry`, { key, body: filter });
    assert.equal(body.retried?.length, 1, JSON.stringify(body));
    const ended = (await weir.finish(run.flow, body.retried[0].executionId, key)).body;
    assert.deepEqual(
      [ended.result, asked()],
      [
        ['A', 'B', 'C', 'D', 'E'],
        ['item d', 'item e'],
      ],
    );
  });

  it('pays for nothing again that was completed in loops and branches inside the step', async () => {
    const rows = code('rows', 'return [[1, 2], [3, 4]];');
    const inner = { ...each([ask]), step_id: 'inner' } as Step;
    const both: Step = {
      ...{ type: 'parallel', step_id: 'both', name: 'both' },
      branches: { one: [code('once', 'return input.length;')], two: [inner] },
    };
    const after = llm('after', 'row {{previous_output}}', 'demo/chat');
    const run = await fail([rows, each([both, after])], '1', '2', 'x', '3');
    const { ended, asked } = await repeat(run, 'retry', '4', 'y');
    assert.deepEqual([ended.status, ended.result], ['completed', ['x', 'y']]);
    assert.deepEqual(asked, ['item 4', 'row {"one":2,"two":["3","4"]}']);
    const reused = ended.blocks.filter((block: { pinned?: true }) => block.pinned);
    assert.deepEqual(reused.map((block: { key: string }) => block.key).sort(), [
      ...['after#0', 'ask#0.0', 'ask#0.1', 'ask#1.0', 'once#0', 'once#1'],
    ]);
  });

  it('goes on with the last recorded iteration of a loop with a condition', async () => {
    const run = await fail(
      [each([ask, code('add', 'return input + "!";')], { until: { pointer: '', equals: 'c!' } })],
      ...['a', 'b'],
    );
    const { ended, asked } = await repeat(run, 'retry', 'c');
    assert.deepEqual([ended.result, asked], [['a!', 'b!', 'c!'], ['item b!']]);
  });

  it('reuses what an attempt before the failed one recorded, and nothing after a rerun', async () => {
    const run = await fail([list, each([ask])], 'A', 'B');
    const second = await repeat(run, 'retry', 'C', refuse);
    assert.deepEqual([second.ended.status, second.asked], ['failed', ['item c', 'item d']]);
    // As if the second attempt had been cancelled before it recorded what it took from the first.
    await weir.db
      .deleteFrom('block_run')
      .where('execution_id', '=', second.executionId)
      .where('block_key', '=', 'ask#1')
      .execute();
    const third = await repeat({ ...run, executionId: second.executionId }, 'retry', 'D', 'E');
    assert.deepEqual(
      [third.ended.result, third.asked],
      [
        ['A', 'B', 'C', 'D', 'E'],
        ['item d', 'item e'],
      ],
    );
    const again = await repeat({ ...run, executionId: second.executionId }, 'rerun', ...'VWXYZ');
    assert.deepEqual([again.ended.result, again.asked.length], [[...'VWXYZ'], 5]);
  });

  it('reuses nothing of a later step that the attempt before did not reach', async () => {
    const other = { ...each([{ ...ask, step_id: 'other' } as Step]), step_id: 'others' } as Step;
    const run = await fail([list, each([ask]), other], 'A', 'B');
    const second = await repeat(run, 'retry', 'C', 'D', 'E', 'AA', refuse);
    assert.equal(second.ended.step_id, 'other');
    const third = await repeat(
      { ...run, executionId: second.executionId },
      'retry',
      ...['BB', 'CC', 'DD', 'EE'],
    );
    assert.deepEqual(third.ended.result, ['AA', 'BB', 'CC', 'DD', 'EE']);
    assert.deepEqual(third.asked, ['item B', 'item C', 'item D', 'item E']);
  });

  it('runs every item again when the version has changed the step or a step before it', async () => {
    const run = await fail([list, each([ask])], 'A', 'B', 'C');
    const publish = (steps: Step[]) => publishSteps(weir.db, weir.tenant.projectId, run.flow, steps);
    await publish([list, each([{ ...ask, prompt: 'new {{previous_output}}' } as Step])]);
    const changed = await repeat(run, 'retry', ...'VWXYZ');
    assert.deepEqual(changed.asked, ['new a', 'new b', 'new c', 'new d', 'new e']);
    assert.deepEqual(changed.ended.result, [...'VWXYZ']);
    await publish([code('list', 'return ["a", "z"];'), each([ask])]);
    assert.deepEqual((await repeat(run, 'retry', ...'VW')).asked, ['item a', 'item z']);
  });

  it('reuses the items when the version has changed only names, or steps after it', async () => {
    const run = await fail([list, each([ask])], 'A', 'B', 'C');
    const renamed = { ...each([{ ...ask, name: 'Other' } as Step]), name: 'Renamed' } as Step;
    await publishSteps(weir.db, weir.tenant.projectId, run.flow, [
      list,
      renamed,
      code('last', 'return input.join("");'),
    ]);
    const { ended, asked } = await repeat(run, 'retry', 'D', 'E');
    assert.deepEqual([ended.result, asked], ['ABCDE', ['item d', 'item e']]);
  });
});

import assert from 'node:assert/strict';
import type { Step } from '../../../flow/definition.ts';
import { code } from '../../blocks.ts';
import { publishSteps } from '../../publish-steps.ts';
import { type JobsWeir, startJobsWeir } from './jobs-harness.ts';

const first = code('first', 'return [message, "first"];');
const second = code('second', 'return [...input, "second"];');
const broken = code('third', 'throw new Error("no");');
const mended = code('third', 'return [...input, "third"];');

describe('running a stored run again in another version', () => {
  let weir: JobsWeir;
  before(async () => {
    weir = await startJobsWeir();
  });
  after(() => weir.stop());

  /** Runs a flow that fails, and publishes `steps` as its version 2 in production. */
  const failThenPublish = async (failing: Step[], steps: Step[], body = {}) => {
    const flow = await weir.createFlow(weir.tenant, failing);
    const sent = { message: 'm', ...body };
    const run = await weir.call('POST', `${flow}/execute`, { key: weir.tenant.key, body: sent });
    assert.equal(run.body.status, 'failed');
    await publishSteps(weir.db, weir.tenant.projectId, flow, steps);
    return { flow, executionId: run.body.executionId as string };
  };
  type Failed = Awaited<ReturnType<typeof failThenPublish>>;
  const repeat = ({ flow, executionId }: Failed, how: string, body?: object, headers = {}) =>
    weir.call('POST', `${flow}/jobs/${executionId}/${how}`, { key: weir.tenant.key, body, headers });
  /** Repeats a run; answers what was accepted and how the new run ended. */
  const finished = async (run: Failed, how: string, body?: object) => {
    const answer = await repeat(run, how, body);
    assert.equal(answer.status, 202, JSON.stringify(answer.body));
    const ended = await weir.finish(run.flow, answer.body.executionId, weir.tenant.key);
    return { accepted: answer.body, ended: ended.body };
  };
  const keysOf = (run: { blocks: { key: string }[] }) => run.blocks.map(({ key }) => key);

  it('retries from the failed step where the version changes nothing before it, and names version and step', async () => {
    const run = await failThenPublish([first, second, broken], [first, second, mended]);
    const { accepted, ended } = await finished(run, 'retry', { version: 'production' });
    assert.deepEqual([accepted.repeats, accepted.version], [run.executionId, 2]);
    assert.equal(accepted.beginsAt.step_id, 'third');
    assert.deepEqual([ended.version, ended.result], [2, ['m', 'first', 'second', 'third']]);
    assert.deepEqual(keysOf(ended), ['third']);
  });

  it('retries from the first step that differs, and says why', async () => {
    const changed = code('second', 'return [...input, "another"];');
    const run = await failThenPublish([first, second, broken], [first, changed, mended]);
    const { accepted, ended } = await finished(run, 'retry', { version: 2 });
    assert.equal(accepted.beginsAt.step_id, 'second');
    assert.match(accepted.beginsAt.reason, /^Version 2 differs from version 1, .* from this step on/);
    assert.deepEqual(keysOf(ended), ['second', 'third']);
    assert.deepEqual(ended.result, ['m', 'first', 'another', 'third']);
  });

  it('retries from the failed step where only names of steps changed before it, also inside other steps', async () => {
    const loop = (inner: Step): Step => {
      return { type: 'loop', step_id: 'each', name: inner.name, body: [inner], max_iterations: 3 };
    };
    const looped = code('inner', 'return input;');
    const steps = [first, loop(looped), broken];
    const named = [{ ...first, name: 'New' }, loop({ ...looped, name: 'Other' }), mended] as Step[];
    const { accepted, ended } = await finished(await failThenPublish(steps, named), 'retry', { version: 2 });
    assert.equal(accepted.beginsAt.step_id, 'third');
    assert.deepEqual([keysOf(ended), ended.result], [['third'], ['m', 'first', 'third']]);
    const changed = [first, loop(code('inner', 'return [input];')), mended];
    const other = await finished(await failThenPublish(steps, changed), 'retry', { version: 2 });
    assert.equal(other.accepted.beginsAt.step_id, 'each');
  });

  it('retries from the last step of a version that has no failed step, and says why', async () => {
    const run = await failThenPublish([first, second, broken], [first, second]);
    const { accepted, ended } = await finished(run, 'retry', { version: 'production' });
    assert.equal(accepted.beginsAt.step_id, 'second');
    assert.match(accepted.beginsAt.reason, /^Version 2 ends with this step/);
    assert.deepEqual([keysOf(ended), ended.result], [['second'], ['m', 'first', 'second']]);
  });

  it('takes for a step only outputs of steps that are the same, also from a retry that was given some', async () => {
    const run = await failThenPublish([first, second, broken], [first, second, broken]);
    const again = await finished(run, 'retry', { version: 2 });
    const steps = [code('first', 'return ["new"];'), second, mended];
    await publishSteps(weir.db, weir.tenant.projectId, run.flow, steps);
    const failed = { flow: run.flow, executionId: again.accepted.executionId };
    const { accepted, ended } = await finished(failed, 'retry', { version: 3 });
    assert.equal(accepted.beginsAt.step_id, 'first');
    assert.deepEqual(ended.result, ['new', 'second', 'third']);
  });

  it('reruns in the version that is named, from its beginning', async () => {
    const run = await failThenPublish([first, broken], [first, mended]);
    const { accepted, ended } = await finished(run, 'rerun', { version: 'production' });
    assert.deepEqual([accepted.version, accepted.beginsAt.step_id], [2, 'first']);
    assert.deepEqual([ended.version, ended.result], [2, ['m', 'first', 'third']]);
  });

  it('keeps the version of the run without a body, with an empty one, and for "original"', async () => {
    const run = await failThenPublish([first, broken], [first, mended]);
    for (const body of [undefined, {}, { version: null }, { version: 'original' }]) {
      const { accepted, ended } = await finished(run, 'retry', body);
      assert.deepEqual([accepted.version, ended.version, ended.status], [1, 1, 'failed']);
      assert.equal(accepted.beginsAt.reason, 'The run has not completed this step.');
    }
  });

  it('answers a repeated request with the same version and step, and refuses its key for another version', async () => {
    const run = await failThenPublish([first, broken], [first, mended]);
    const headers = { 'idempotency-key': run.executionId };
    const production = await repeat(run, 'retry', { version: 'production' }, headers);
    await publishSteps(weir.db, weir.tenant.projectId, run.flow, [mended]);
    const replayed = await repeat(run, 'retry', { version: 'production' }, headers);
    assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(replayed.body, production.body);
    const other = await repeat(run, 'retry', {}, headers);
    assert.deepEqual([other.status, other.body.detail.code], [409, 'IDEMPOTENCY_KEY_REUSED']);
    await weir.finish(run.flow, production.body.executionId, weir.tenant.key);
  });

  it('is 404 for a version that is not published, and 422 for what is no version', async () => {
    const run = await failThenPublish([first, broken], [mended]);
    const unknown = await repeat(run, 'retry', { version: 9 });
    assert.deepEqual([unknown.status, unknown.body.detail.code], [404, 'FLOW_NOT_FOUND']);
    for (const version of ['latest', 0, 1.5, '2']) {
      const { status, body } = await repeat(run, 'rerun', { version });
      assert.deepEqual([status, body.detail.errors[0].field], [422, 'version'], String(version));
    }
  });

  it('is 422 for a version without a block that the run overrides: the answer names both, and says what to do', async () => {
    const overrides = { block_overrides: { first: { processor_config: { timeout_ms: 9_000 } } } };
    const run = await failThenPublish([first, broken], [mended], overrides);
    for (const how of ['rerun', 'retry']) {
      const { status, body } = await repeat(run, how, { version: 'production' });
      assert.deepEqual([status, body.detail.errors[0].field], [422, 'version']);
      assert.match(
        body.detail.message,
        /version 2 .*start a new run without these .*has the step_id "first"/,
      );
    }
  });

  it('retries many runs on the version that on_version names, while version finds the runs', async () => {
    const run = await failThenPublish([first, broken], [first, mended]);
    const slug = run.flow.split('/')[2];
    const retry = (body: object) =>
      weir.call('POST', `/projects/${weir.tenant.projectId}/runs/retry`, {
        key: weir.tenant.key,
        body: { flow: slug, ...body },
      });
    assert.deepEqual((await retry({ version: 2, on_version: 'production' })).body.retried, []);
    const { status, body } = await retry({ version: 1, on_version: 'production' });
    assert.equal(status, 200, JSON.stringify(body));
    const [retried] = body.retried;
    assert.deepEqual([retried.repeats, retried.version], [run.executionId, 2]);
    assert.equal(retried.beginsAt.step_id, 'third');
    const ended = await weir.finish(run.flow, retried.executionId, weir.tenant.key);
    assert.deepEqual([ended.body.version, ended.body.status], [2, 'completed']);
    const wrong = await retry({ on_version: 'newest' });
    assert.deepEqual([wrong.status, wrong.body.detail.errors[0].field], [422, 'on_version']);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suspendOrganization } from '../../../db/tenants/organizations.ts';
import { reconcileRuns } from '../../../worker/reconciler/reconcile-runs.ts';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { code } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import type { Tenant } from '../../harness.ts';
import { fail } from '../cli-harness.ts';
import { operatorRuns } from './list-stuck.ts';

describe('weir operator runs retry', () => {
  let weir: JobsWeir;
  let tenant: Tenant;
  before(async () => {
    weir = await startJobsWeir();
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const run = (...args: string[]) => operatorRuns(weir, 'retry', ...args);
  async function retry(args: string[], exit = 0) {
    const { code, stdout, stderr } = await run(...args, '--json');
    assert.equal(code, exit, stderr);
    return JSON.parse(stdout) as {
      done: { executionId: string; repeats: string }[];
      matching: string[];
      refused: { executionId: string; code: string; errorMessage: string }[];
      stoppedBy: string | null;
    };
  }
  const repeats = ({ done }: Awaited<ReturnType<typeof retry>>) => done.map((one) => one.repeats);
  const createFlow = (of = tenant) =>
    weir.createFlow(of, [code('first', 'return 1'), code('then', 'throw new Error("no");')]);
  const startFailing = async (flow: string, { key } = tenant): Promise<string> =>
    (await weir.call('POST', `${flow}/execute`, { key, body: { message: 'm' } })).body.executionId;
  const setRun = (id: string, values: object) =>
    weir.db.updateTable('run').set(values).where('execution_id', '=', id).execute();

  const listEntries = ({ organizationId }: Tenant) =>
    weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'resource_id', 'details'])
      .where('organization_id', '=', organizationId)
      .where('action', '=', 'runs.retry')
      .execute();

  it('has workers retry, from the step that failed, the runs that the filter finds, each once', async () => {
    const flow = await createFlow();
    const ids = [await startFailing(flow), await startFailing(flow)].reverse();
    await startFailing(await createFlow());
    const found = ['--flow', flow, '--error-code', 'CODE_ERROR'];
    const dry = await retry([...found, '--dry-run']);
    assert.deepEqual([dry.matching, dry.done], [ids, []]);
    assert.deepEqual((await retry(['--flow', flow, '--error-code', 'INTERNAL_ERROR'])).done, []);

    const { done, refused } = await retry(found);
    assert.deepEqual([done.map((one) => one.repeats), refused], [ids, []]);
    await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
    for (const { executionId, repeats } of done) {
      const { body } = await weir.finish(flow, executionId, tenant.key);
      assert.deepEqual([body.status, body.code, body.repeats], ['failed', 'CODE_ERROR', repeats]);
      const { blocks } = (await weir.call('GET', `${flow}/jobs/${executionId}/blocks`, { key: tenant.key }))
        .body;
      assert.deepEqual(
        blocks.map((block: { step_id: string }) => block.step_id),
        ['then'],
      );
    }
    const again = await run(...found);
    assert.equal(again.code, 0, again.stderr);
    for (const { executionId, repeats } of done)
      assert.match(
        again.stdout,
        new RegExp(`^${repeats}  passed over: This run was run again already, as ${executionId}\\.$`, 'm'),
      );
    assert.match(again.stdout, /^0 runs retried, 4 passed over\.$/m);
    const [organization = '', project, slug] = flow.split('/');
    assert.deepEqual(await listEntries(tenant), [
      {
        ...{ actor: 'operator', resource_id: tenant.projectId },
        details: { organization, project, flow: slug, errorCode: 'CODE_ERROR', matching: 2 },
      },
    ]);
  });

  it('leaves runs to the reconciler to start, among whose findings they are not', async () => {
    const flow = await createFlow();
    await startFailing(flow);
    const { done } = await retry(['--flow', flow]);
    const metrics = captureMetrics();
    await reconcileRuns({ db: weir.db, client: weir.client, taskQueue: weir.config.taskQueue }, 0);
    const findings = await metrics.read('weir.reconciler.findings');
    metrics.stop();
    for (const { executionId } of done) await weir.finish(flow, executionId, tenant.key);
    assert.deepEqual([done.length, findings['kind=run']], [1, 0]);
  });

  it('takes ids, also of runs that were cancelled, and says of each what came of it', async () => {
    const flow = await createFlow();
    const cancelled = await startFailing(flow);
    await setRun(cancelled, { error: JSON.stringify({ code: 'CANCELLED', message: 'x', reason: 'error' }) });
    const completed = await startFailing(flow);
    await setRun(completed, { status: 'completed', error: null });
    const unknown = randomUUID();
    assert.match(
      (await run('--flow', flow)).stdout,
      new RegExp(`^${cancelled}  passed over: This run was cancelled: retry it by its id`, 'm'),
    );
    const { code, stdout } = await run(cancelled, completed, unknown);
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`^${cancelled}  retried as [0-9a-f-]{36}$`, 'm'));
    assert.match(stdout, new RegExp(`^${completed}  passed over: Only a failed run can be retried`, 'm'));
    assert.match(stdout, new RegExp(`^${unknown}  passed over: The run does not exist\\.$`, 'm'));
    assert.match(stdout, /^1 run retried, 2 passed over\.\nWorkers start them within a minute\.$/m);
  });

  it('tells each organization of its own runs alone', async () => {
    const other = await weir.createTenant();
    const ours = await startFailing(await createFlow());
    const theirs = await startFailing(await createFlow(other), other);
    assert.deepEqual(repeats(await retry([ours, theirs])).toSorted(), [ours, theirs].toSorted());
    for (const [{ projectId }, entries, id] of [
      [tenant, await listEntries(tenant), ours],
      [other, await listEntries(other), theirs],
    ] as const)
      assert.deepEqual(entries, [
        { actor: 'operator', resource_id: projectId, details: { executionIds: [id], matching: 1 } },
      ]);
  });

  it('retries runs of all organizations, but passes over those of one without credits', async () => {
    const other = await weir.createTenant();
    const since = ['--all', '--since', new Date().toISOString()];
    const poor = await createFlow();
    const rich = await createFlow(other);
    const [first, second] = [await startFailing(poor), await startFailing(poor)];
    const theirs = await startFailing(rich, other);
    await weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', tenant.organizationId)
      .execute();
    const retried = await retry(since, 1);
    assert.deepEqual([repeats(retried), retried.stoppedBy], [[theirs], 'INSUFFICIENT_CREDITS']);
    assert.deepEqual(
      retried.refused.map(({ executionId, code }) => [executionId, code]),
      [second, first].map((id) => [id, 'INSUFFICIENT_CREDITS']),
    );
  });

  it('passes over all runs of a suspended organization, and retries those of others', async () => {
    const other = await weir.createTenant();
    const since = ['--all', '--since', new Date().toISOString()];
    const flow = await createFlow();
    const [first, second] = [await startFailing(flow), await startFailing(flow)];
    const theirs = await startFailing(await createFlow(other), other);
    const { organizationId } = tenant;
    await weir.db.transaction().execute((tx) => suspendOrganization(tx, organizationId, undefined));
    const retried = await retry(since, 1);
    assert.deepEqual([repeats(retried), retried.stoppedBy], [[theirs], 'FORBIDDEN']);
    assert.deepEqual(
      retried.refused.map(({ executionId, code }) => [executionId, code]),
      [second, first].map((id) => [id, 'FORBIDDEN']),
    );
  });

  it('does not run another flow that has the slug of the deleted one', async () => {
    const flow = await createFlow();
    const id = await startFailing(flow);
    const { flow_id } = await weir.db
      .selectFrom('run')
      .select('flow_id')
      .where('execution_id', '=', id)
      .executeTakeFirstOrThrow();
    const other = (await createFlow()).split('/')[2] ?? '';
    const slug = flow.split('/')[2] ?? '';
    await weir.db.updateTable('flow').set({ deleted_at: new Date() }).where('id', '=', flow_id).execute();
    await weir.db.updateTable('flow').set({ slug }).where('slug', '=', other).execute();
    const { done, refused } = await retry([id], 1);
    assert.deepEqual([done, refused.map((one) => one.code)], [[], ['FLOW_NOT_FOUND']]);
  });

  it('retries no more runs than --limit, and more than ten only with --yes', async () => {
    const flow = await createFlow();
    const ids = await Promise.all(Array.from({ length: 12 }, () => startFailing(flow)));
    const found = ['--organization', flow];
    const refusal = await fail(2, run(...found));
    assert.match(refusal, /^Nothing was done: these are 12 runs\. Add --yes to retry more than 10/);
    const some = repeats(await retry([...found, '--limit', '5']));
    assert.equal(some.length, 5);
    const rest = repeats(await retry([...found, '--yes']));
    assert.deepEqual([...some, ...rest].toSorted(), ids.toSorted());
  });

  it('says what is missing or wrong in its options', async () => {
    const id = randomUUID();
    assert.match(await fail(2, run()), /Give ids of runs, --organization or --flow with a path, or --all\./);
    assert.match(await fail(2, run('--error-code', 'CODE_ERROR')), /Give ids of runs, --organization/);
    assert.match(await fail(2, run(id, '--all')), /not both/);
    assert.match(await fail(2, run(id, '--limit', '1')), /not both/);
    assert.match(await fail(2, run(id, '--error-code', 'CODE_ERROR')), /not both/);
    assert.match(await fail(2, run('--flow', 'hello')), /is not the path of a flow: write it as org/);
    assert.match(await fail(2, run('--organization', 'a/b/c/d')), /must be a path/);
    assert.match(await fail(1, run('--organization', 'nowhere')), /no organization nowhere/);
    assert.match(await fail(2, run('--all', '--error-code', 'NO')), /not the code of an error/);
  });
});

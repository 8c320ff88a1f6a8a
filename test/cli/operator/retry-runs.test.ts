import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { insertProject } from '../../../db/tenants/projects.ts';
import { type JobsWeir, startJobsWeir } from '../../api/runs/jobs-harness.ts';
import { code } from '../../blocks.ts';
import type { Tenant } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { fail } from '../cli-harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

describe('weir runs retry --failed, of an operator', () => {
  let weir: JobsWeir;
  let operator: Operator;
  let tenant: Tenant;
  before(async () => {
    weir = await startJobsWeir();
    operator = await createOperator(weir);
  });
  beforeEach(async () => {
    tenant = await weir.createTenant();
  });
  after(() => weir.stop());

  const run = (...args: string[]) => operator.run('runs', 'retry', '--failed', ...args);
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
  const of = ({ organization } = tenant) => ['--organization', organization];

  it('retries the failed runs of every project of an organization, each once and in its environment', async () => {
    const flow = await createFlow();
    const ids = [await startFailing(flow), await startFailing(flow)].reverse();
    const second = { organizationId: tenant.organizationId, slug: 'project-2', name: 'Second' };
    const { id: projectId } = await insertProject(weir.db, second);
    const { key } = await createScopedKey(weir, projectId, 'run');
    const other = await weir.createFlow({ ...tenant, projectId, key }, [code('a', 'throw new Error("no");')]);
    const path = other.replace('/project/', '/project-2/');
    const elsewhere = await startFailing(path, { ...tenant, key });
    await weir.db
      .updateTable('run')
      .set({ environment: 'test' })
      .where('execution_id', '=', elsewhere)
      .execute();
    const found = [...of(), '--error-code', 'CODE_ERROR'];
    const dry = await retry([...found, '--dry-run']);
    assert.deepEqual([dry.matching, dry.done], [[...ids, elsewhere], []]);
    assert.deepEqual((await retry([...of(), '--error-code', 'INTERNAL_ERROR'])).done, []);

    const { done, refused } = await retry(found);
    assert.deepEqual([done.map((one) => one.repeats), refused], [[...ids, elsewhere], []]);
    const environments = [];
    for (const { executionId, repeats } of done) {
      const place = repeats === elsewhere ? path : flow;
      const { body } = await weir.finish(place, executionId, repeats === elsewhere ? key : tenant.key);
      assert.deepEqual([body.status, body.code, body.repeats], ['failed', 'CODE_ERROR', repeats]);
      environments.push(body.environment);
    }
    assert.deepEqual(environments, ['live', 'live', 'test']);
    const again = await run(...found);
    assert.equal(again.code, 0, again.stderr);
    // The new runs have failed too, and are the newest attempts now.
    assert.match(again.stdout, /^3 runs retried, 3 not retried\.$/m);
  });

  it('retries runs of all organizations, but none of one without credits or that is suspended', async () => {
    const [rich, suspended] = [await weir.createTenant(), await weir.createTenant()];
    const since = ['--all-organizations', '--since', new Date().toISOString()];
    await startFailing(await createFlow());
    await startFailing(await createFlow(suspended), suspended);
    const theirs = await startFailing(await createFlow(rich), rich);
    await operator.succeed('operator', 'org', 'suspend', suspended.organization);
    await weir.db
      .updateTable('organization')
      .set({ balance_microcredits: 0 })
      .where('id', '=', tenant.organizationId)
      .execute();
    const retried = await retry(since, 1);
    assert.deepEqual(repeats(retried), [theirs]);
    assert.ok(
      ['INSUFFICIENT_CREDITS', 'FORBIDDEN'].includes(retried.stoppedBy ?? ''),
      `${retried.stoppedBy}`,
    );
    const [entry] = await operator.succeedJson('audit-log', rich.organization, '--action', 'runs.retry');
    assert.equal(entry.actor, operator.actor);
  });

  it('retries no more runs than --limit, and more than ten only with --yes', async () => {
    const flow = await createFlow();
    const ids = await Promise.all(Array.from({ length: 12 }, () => startFailing(flow)));
    const refusal = await fail(2, run(...of()));
    assert.match(refusal, /^Nothing was done: these are 12 runs\. Add --yes to retry more than 10/);
    const found = [...of(), '--mode', 'execute'];
    const first = await retry([...found, '--limit', '5']);
    const some = repeats(first);
    assert.equal(some.length, 5);
    const again = first.done.map(({ executionId }) => executionId);
    for (const id of again) await weir.finish(flow, id, tenant.key);
    const completed = { status: 'completed', error: null } as const;
    await weir.db.updateTable('run').set(completed).where('execution_id', 'in', again).execute();
    const rest = repeats(await retry([...found, '--yes']));
    assert.deepEqual([...some, ...rest].toSorted(), ids.toSorted());
  });

  it('takes ids of runs of any organization, and says of each what came of it', async () => {
    const failed = await startFailing(await createFlow());
    await weir.db
      .updateTable('run')
      .set({ environment: 'test' })
      .where('execution_id', '=', failed)
      .execute();
    const unknown = randomUUID();
    const { code: exit, stdout } = await operator.run('runs', 'retry', failed, unknown);
    assert.equal(exit, 1);
    const [, again = ''] = new RegExp(`^${failed} +([0-9a-f-]{36}) `, 'm').exec(stdout) ?? [];
    assert.equal((await operator.succeedJson('runs', 'show', again)).environment, 'test', stdout);
    assert.match(stdout, new RegExp(`^${unknown} +not: The run \\S+ does not exist`, 'm'));
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { code, llm } from '../../blocks.ts';
import { type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { answer, type FakeModelServer, hang, startFakeModelServer } from '../../fakes/model-server.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir runs', () => {
  let provider: IdentityProvider;
  let models: FakeModelServer;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  let failing: string;
  before(async () => {
    provider = await startIdentityProvider();
    models = await startFakeModelServer();
    weir = await startWeir({ env: { ...provider.env, DEMO_BASE_URL: models.provider.baseUrl } });
    tenant = await weir.createTenant();
    const { organizationId } = tenant;
    await insertMember(weir.db, { organizationId, userId: 'ann', role: 'member' });
    flow = await weir.createFlow(tenant, [
      code('first', 'return 1'),
      code('second', 'console.info({ input }); return input + 1'),
    ]);
    failing = await weir.createFlow(tenant, [
      code('first', 'return 1'),
      code('broken', 'throw new Error("no")'),
    ]);
  });
  after(async () => {
    await weir.stop();
    await Promise.all([provider.close(), models.close()]);
  });

  const byKey = () => ({ WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_API_KEY: tenant.key });
  async function succeed(args: string[], env: { [name: string]: string } = byKey()): Promise<string> {
    const { code, stdout, stderr } = await weirIn(env, args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed([...args, '--json']));
  async function follow(path: string): Promise<string> {
    const { stdout } = await weirIn(byKey(), ['run', path, '--message', 'm', '--follow', '--json']);
    return JSON.parse(stdout).executionId;
  }

  it('lists runs for a key and for a user, by path, status and id, and shows one with its blocks', async () => {
    const executionId = await follow(flow);
    const asAnn = { ...byKey(), WEIR_API_KEY: '', WEIR_TOKEN: await provider.token('ann') };
    const row = new RegExp(`^${executionId} +${flow} +1 +jobs +completed `, 'm');
    for (const env of [byKey(), asAnn]) {
      assert.match(await succeed(['runs', 'list'], env), row);
      assert.match(await succeed(['runs', 'list', flow, '--id', executionId.slice(0, 8)], env), row);
    }
    assert.match(await succeed(['runs', 'list', tenant.organization], asAnn), row);
    assert.deepEqual(await succeedJson('runs', 'list', flow, '--status', 'failed'), []);
    assert.match(
      await fail(1, weirIn(byKey(), ['runs', 'list', `${tenant.organization}/mian`])),
      /The project \S+\/mian does not exist/,
    );
    for (const env of [byKey(), asAnn])
      assert.match(await fail(1, weirIn(env, ['runs', 'list', `${flow}-typo`])), /_NOT_FOUND, request /);
    await fail(2, weirIn(byKey(), ['runs', 'list', 'a/b/c/d']));

    const shown = await succeed(['runs', 'show', executionId], asAnn);
    assert.match(shown, /^second +second +completed /m);
    assert.match(shown, /^Result: 2$/m);
    assert.match(
      await fail(1, weirIn(byKey(), ['runs', 'show', randomUUID()])),
      /^The run \S+ does not exist/,
    );
    assert.match(
      await fail(2, weirIn(byKey(), ['runs', 'show', '123'])),
      /Give the id of a run as runs list/,
    );
  });

  it('finds runs in all organizations of a user, however many they are', async () => {
    const executionId = await follow(flow);
    await sql`
      with other as (
        insert into organization (slug, name) select 'a-' || number, 'Other' from generate_series(1, 200) as number
        returning id
      )
      insert into membership (organization_id, user_id, role)
      select id, 'bob', 'member' from other union all select ${tenant.organizationId}, 'bob', 'member'`.execute(
      weir.db,
    );
    const asBob = { ...byKey(), WEIR_API_KEY: '', WEIR_TOKEN: await provider.token('bob') };
    assert.equal(
      JSON.parse(await succeed(['runs', 'show', executionId, '--json'], asBob)).executionId,
      executionId,
    );
  });

  it('shows the price of a model that is in no list', async () => {
    const path = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/of-tomorrow')]);
    models.will(answer('done'));
    const shown = await succeed(['runs', 'show', await follow(path)]);
    assert.match(
      shown,
      / credits\nnote: demo\/of-tomorrow is in no list of models\. .* are charged like .*\n\n/,
    );
  });

  it('shows the block under way of a run that has not ended', async () => {
    const path = await weir.createFlow(tenant, [llm('ask', 'x', 'demo/chat')]);
    models.will(hang);
    const options = { key: tenant.key, body: { message: 'm' } };
    const { executionId } = (await weir.call('POST', `${path}/jobs`, options)).body;
    const state = () => weir.call('GET', `${path}/jobs/${executionId}`, { key: tenant.key });
    await waitUntil(async () => (await state()).body.blocksUnderWay.length > 0);
    assert.match(
      await succeed(['runs', 'show', executionId]),
      /^No block has finished\.\n\nrunning ask \(ask\), since \d{4}-\S+/m,
    );
    await succeed(['runs', 'cancel', executionId]);
  });

  it('shows what a block got, was sent and answered, and one of the values alone', async () => {
    const executionId = await follow(flow);
    const shown = await succeed(['runs', 'block', executionId, 'second']);
    assert.match(shown, /^completed second \(second\) /);
    assert.match(shown, /^input: 1\nsent: .*return input \+ 1.*\noutput: 2\nconsole.info: {"input": 1}$/m);
    assert.equal(await succeed(['runs', 'block', executionId, 'second', '--value', 'output']), '2\n');
    await fail(1, weirIn(byKey(), ['runs', 'block', executionId, 'nosuch']));
  });

  it('prints the request that goes on with a run at a step', async () => {
    const executionId = await follow(flow);
    const cursor = JSON.parse(await succeed(['runs', 'fork', executionId, '--step', '1']));
    assert.deepEqual([cursor.stepIndex, cursor.accumulatedOutputs], [1, { first: 1 }]);
    await fail(2, weirIn(byKey(), ['runs', 'fork', executionId]));
    await fail(2, weirIn(byKey(), ['runs', 'fork', executionId, '--step', '-1']));
  });

  it('runs several again, each once under a key, and a failed one from the step that failed', async () => {
    const ids = [await follow(flow), await follow(flow)];
    const rerun = ['runs', 'rerun', ...ids, '--idempotency-key', 'k'];
    const again = await succeedJson(...rerun);
    assert.deepEqual(
      again.map(({ repeats }: { repeats: string }) => repeats),
      ids,
    );
    assert.deepEqual(await succeedJson(...rerun), again);
    const failed = await follow(failing);
    const [retried] = await succeedJson('runs', 'retry', failed);
    const { body } = await weir.finish(failing, retried.executionId, tenant.key);
    assert.deepEqual([body.status, body.repeats], ['failed', failed]);
    assert.match(
      await succeed(['runs', 'show', retried.executionId]),
      new RegExp(`^Runs ${failed} again, from block broken\\.$`, 'm'),
    );
  });

  it('runs one again in the version that --on-version names, and says where it begins', async () => {
    const executionId = await follow(flow);
    const [again] = await succeedJson('runs', 'rerun', executionId, '--on-version', 'production');
    assert.deepEqual([again.version, again.beginsAt.step_id], [1, 'first']);
    const shown = await succeed(['runs', 'rerun', executionId, '--on-version', '1']);
    assert.match(shown, /^\S+ +\S+ +v1 +first: A rerun begins with the first step\.$/m);
    assert.match(
      await fail(1, weirIn(byKey(), ['runs', 'rerun', executionId, '--on-version', '9'])),
      /no published version with this number/,
    );
    assert.match(
      await fail(2, weirIn(byKey(), ['runs', 'rerun', executionId, '--on-version', 'latest'])),
      /Give original or production, or the number of a version\./,
    );
  });

  it('names the runs that it has started when others are refused', async () => {
    const executionId = await follow(flow);
    const unknown = randomUUID();
    const { code, stdout } = await weirIn(byKey(), ['runs', 'rerun', executionId, unknown, '--json']);
    const [started, refused] = JSON.parse(stdout);
    assert.deepEqual([code, started.repeats, refused.repeats], [1, executionId, unknown]);
    assert.match(refused.error, /^The run \S+ does not exist/);
    const { body } = await weir.finish(flow, started.executionId, tenant.key);
    assert.equal(body.status, 'completed');
  });

  it('cancels a run, and says when one has ended already', async () => {
    const executionId = await follow(flow);
    assert.equal(
      await succeed(['runs', 'cancel', executionId]),
      'The run has ended already: it is completed.\n',
    );
    await weir.stopWorker();
    const started = await succeedJson('run', flow, '--message', 'm');
    assert.match(await succeed(['runs', 'cancel', started.executionId]), /^The run is being cancelled/);
  });
});

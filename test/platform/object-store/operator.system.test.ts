import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import { fail, weirIn } from '../../cli/cli-harness.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { BUILD_MAX_MS } from './s3-binary.ts';
import { describeWithS3, type S3Server, startS3Server } from './s3-server.ts';

const MESSAGE = 'm'.padEnd(300_000, 'x');

describeWithS3('weir operator runs, with an object store', function () {
  this.timeout(BUILD_MAX_MS);
  let server: S3Server;
  let weir: Weir;
  let tenant: Tenant;
  let flow: string;
  before(async () => {
    server = await startS3Server();
    weir = await startWeir({ env: server.env, worker: false });
    tenant = await weir.createTenant();
    flow = await weir.createFlow(tenant, [code('pass', 'return message;')]);
  });
  after(async () => {
    await weir.stop();
    await server.stop();
  });
  const start = async (): Promise<string> => {
    const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: MESSAGE } });
    return body.executionId;
  };
  const runs = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    weirIn({ DATABASE_URL: weir.config.databaseUrl, ...(env as { [name: string]: string }) }, [
      'operator',
      'runs',
      ...args,
    ]);

  it('cancel: is done where the request of the run cannot be read, which show refuses', async () => {
    const executionId = await start();
    assert.match(await fail(1, runs({}, 'show', executionId)), /object store/);
    const { code: status, stdout, stderr } = await runs({}, 'cancel', executionId, '--json');
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout).input, null);
    const { cancel_requested_at } = await weir.db
      .selectFrom('run')
      .select('cancel_requested_at')
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow();
    assert.ok(cancel_requested_at);
  });

  it('show: has large requests and outputs', async () => {
    await weir.startWorker();
    const executionId = await start();
    await weir.finish(flow, executionId, tenant.key);
    const { stdout, stderr } = await runs(server.env, 'show', executionId, '--full', '--json');
    const { input, blocks, result } = JSON.parse(stdout || stderr);
    assert.equal(input.message, MESSAGE);
    assert.deepEqual([blocks[0].input, blocks[0].output, result], [MESSAGE, MESSAGE, MESSAGE]);
  });
});

import assert from 'node:assert/strict';
import { updateRunsUnderWayMax } from '../../../db/tenants/limits.ts';
import { code } from '../../blocks.ts';
import { startApiProcess } from '../../faults/api-process.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';

const QUOTA = 10;
const SENT = 200;

describe('the quota of runs under way, at two API processes at once', () => {
  let weir: Weir;
  let tenant: Tenant;
  let second: Awaited<ReturnType<typeof startApiProcess>>;
  before(async () => {
    // Without a worker, no run ends.
    weir = await startWeir({ worker: false });
    tenant = await weir.createTenant();
    second = await startApiProcess(weir);
  });
  after(async () => {
    await second.stop();
    await weir.stop();
  });

  it('is exceeded by no more runs than the organization may have connections to the database', async () => {
    const flow = await weir.createFlow(tenant, [code('a', 'return 1')]);
    const start = (url: string) =>
      weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' }, url });
    await updateRunsUnderWayMax(weir.db, tenant.organizationId, QUOTA);
    const urls = [weir.url, second.url];
    const answers = await Promise.all(
      Array.from({ length: SENT }, (_, index) => start(urls[index % 2] ?? '')),
    );
    const accepted = answers.filter(({ status }) => status === 202).length;
    assert.equal(answers.filter(({ status }) => status === 429).length, SENT - accepted);
    const atOnce = (urls.length * (weir.config.databaseConnections * 3)) / 4;
    assert.ok(accepted >= QUOTA && accepted < QUOTA + atOnce, `${accepted} were accepted`);
    for (const url of urls) assert.equal((await start(url)).status, 429);
    const stored = await weir.db.selectFrom('run').select('status').execute();
    assert.deepEqual(
      stored.map(({ status }) => status),
      Array.from({ length: accepted }, () => 'started'),
    );
  });
});

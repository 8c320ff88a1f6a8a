import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ApiContext } from '../../../api/http/context.ts';
import { createOpenRequests, holdOpen } from '../../../api/http/open-requests.ts';
import { passthrough } from '../../blocks.ts';
import { captureMetrics } from '../../capture-metrics.ts';
import { startWeir, type Tenant, type Weir } from '../../harness.ts';
import { waitUntil } from '../../wait-until.ts';

const MAX = 2;

describe('requests that are held open', () => {
  describe('in one process', () => {
    it('are refused over the bound of one organization, for each kind by itself', async () => {
      const { follow, call } = createOpenRequests(MAX);
      const leave = follow('a');
      follow('a');
      const metrics = captureMetrics();
      assert.throws(() => follow('a'), { code: 'RATE_LIMITED', retryAfterSeconds: 5 });
      assert.equal((await metrics.read('weir.rate_limit.refusals'))['limit=open_requests'], 1);
      metrics.stop();
      follow('b');
      call('a');
      leave.release();
      // It left already.
      leave.release();
      follow('a');
      assert.throws(() => follow('a'), { code: 'RATE_LIMITED' });
    });

    it('are refused over the bound of all organizations, but for one that has fewer than eight', () => {
      const { follow } = createOpenRequests(10);
      const leaves = ['a', 'b', 'c'].flatMap((organization) =>
        Array.from({ length: 10 }, () => follow(organization)),
      );
      for (let request = 0; request < 8; request += 1) leaves.push(follow('e'));
      assert.throws(() => follow('e'), { code: 'SERVICE_BUSY' });
      for (const { release } of leaves.slice(0, 9)) release();
      follow('e');
    });

    it('are counted by kind until they end', async () => {
      const { follow, call } = createOpenRequests(MAX);
      const metrics = captureMetrics();
      const read = () => metrics.read('weir.http.open_requests');
      const { 'kind=follow': following = 0, 'kind=call': calling = 0 } = await read();
      const leaves = [follow('a'), follow('b'), call('a')];
      assert.deepEqual(await read(), { 'kind=follow': following + 2, 'kind=call': calling + 1 });
      for (const { release } of leaves) release();
      assert.deepEqual(await read(), { 'kind=follow': following, 'kind=call': calling });
      metrics.stop();
    });

    it('leave when they are refused, although the answer may come later', async () => {
      const openRequests = createOpenRequests(1);
      const ctx = { state: { flowIds: { organizationId: 'a' } }, res: new EventEmitter() };
      const hold = holdOpen({ openRequests }, 'call');
      const refused = new Error('refused');
      await assert.rejects(() => hold(ctx as unknown as ApiContext, () => Promise.reject(refused)), refused);
      openRequests.call('a');
    });

    it('have no bound where an operator set none', () => {
      const { call } = createOpenRequests(0);
      for (let request = 0; request < 10_000; request += 1) call('a');
    });
  });

  describe('over HTTP', () => {
    let weir: Weir;
    before(async () => {
      weir = await startWeir({ env: { WEIR_OPEN_REQUESTS_MAX: String(MAX) } });
      // Runs are started, and none ends.
      await weir.stopWorker();
    });
    after(() => weir.stop());

    const startJob = async (tenant: Tenant) => {
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: '' } });
      return { flow, job: `${flow}/jobs/${body.executionId}` };
    };

    it('are streams and long polls, which let others in when they end', async () => {
      const [tenant, other] = [await weir.createTenant(), await weir.createTenant()];
      const { job } = await startJob(tenant);
      const leaving = new AbortController();
      const open = (path: string, { key }: Tenant) =>
        fetch(`${weir.url}/api/v1/seq/${path}`, {
          headers: { authorization: `Bearer ${key}` },
          signal: leaving.signal,
        });
      for (let stream = 0; stream < MAX; stream += 1)
        assert.equal((await open(`${job}/events`, tenant)).status, 200);
      const refused = await weir.call('GET', `${job}/events`, { key: tenant.key });
      assert.deepEqual([refused.status, refused.body.detail.code], [429, 'RATE_LIMITED']);
      assert.equal(refused.headers.get('retry-after'), '5');
      assert.equal((await weir.call('GET', `${job}?wait=1`, { key: tenant.key })).status, 429);
      assert.equal((await weir.call('GET', job, { key: tenant.key })).status, 200);
      const { job: elsewhere } = await startJob(other);
      assert.equal((await open(`${elsewhere}/events`, other)).status, 200);
      leaving.abort();
      const wait = () => weir.call('GET', `${job}?wait=1`, { key: tenant.key });
      await waitUntil(async () => (await wait()).status === 200);
    });

    it('are calls that wait for their run: one too many starts nothing', async () => {
      const tenant = await weir.createTenant();
      const flow = await weir.createFlow(tenant, [passthrough('a')]);
      const leaving = new AbortController();
      const count = async () => {
        const runs = weir.db.selectFrom('run').where('organization_id', '=', tenant.organizationId);
        return (await runs.select('execution_id').execute()).length;
      };
      const call = (endpoint: string, body: object) =>
        fetch(`${weir.url}/api/v1/seq/${flow}/${endpoint}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: leaving.signal,
        });
      const waiting = Array.from({ length: MAX }, () => call('execute', { message: '' }));
      await waitUntil(async () => (await count()) === MAX);
      assert.equal((await call('execute', { message: '' })).status, 429);
      assert.equal((await call('step', { executionId: null, stepIndex: 0, message: '' })).status, 429);
      assert.equal(await count(), MAX);
      leaving.abort();
      await Promise.allSettled(waiting);
    });
  });
});

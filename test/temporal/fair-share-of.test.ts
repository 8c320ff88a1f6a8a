import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from '../../flow/limits.ts';
import { fairShareOf } from '../../temporal/start-run.ts';
import { passthrough } from '../blocks.ts';
import { startWeir } from '../harness.ts';

describe('the fairness keys of an organization', () => {
  const SLUGS = ['acme', 'a-1', '1a', '42', '32', '4-2', '0', '9'.repeat(SLUG_MAX_LENGTH)];
  const keysOf = (organization: string) =>
    (['execute', 'jobs'] as const).map((mode) => fairShareOf({ organization, mode }).fairnessKey ?? '');

  it('are its slug for runs that a caller waits for, and the slug of nobody for its jobs', () => {
    for (const slug of SLUGS) {
      const [awaited, jobs = ''] = keysOf(slug);
      assert.equal(awaited, slug);
      assert.doesNotMatch(jobs, SLUG_PATTERN);
      assert.equal(jobs.length, slug.length);
    }
    assert.equal(keysOf('acme')[1], 'ACME');
  });

  it('are accepted by the engine where they begin with a sign', async () => {
    const weir = await startWeir();
    try {
      const tenant = await weir.createTenant();
      const slug = String(randomInt(2 ** 40));
      await weir.db
        .updateTable('organization')
        .set({ slug })
        .where('id', '=', tenant.organizationId)
        .execute();
      const flow = await weir.createFlow({ ...tenant, organization: slug }, [passthrough('a')]);
      const { body } = await weir.call('POST', `${flow}/jobs`, { key: tenant.key, body: { message: 'm' } });
      const job = await weir.finish(flow, body.executionId, tenant.key);
      assert.equal(job.body.status, 'completed', JSON.stringify(job.body));
      const { raw } = await weir.client.workflow.getHandle(body.executionId).describe();
      assert.equal(raw.workflowExecutionInfo?.priority?.fairnessKey, keysOf(slug)[1]);
    } finally {
      await weir.stop();
    }
  });

  it('are those of no other organization', () => {
    const digits = Array.from({ length: 10 }, (_, digit) => `${digit}-7`);
    const all = [...SLUGS, ...digits].flatMap(keysOf);
    assert.equal(new Set(all).size, all.length);
  });
});

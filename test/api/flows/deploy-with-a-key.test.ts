// A pipeline that holds nothing but an API key with scopes, from an empty project to a flow in production, its runs and its usage.

import assert from 'node:assert/strict';
import { code } from '../../blocks.ts';
import { auditUsage } from '../../db/usage/audit-usage.ts';
import type { Weir } from '../../harness.ts';
import { createScopedKey } from '../../scoped-key.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { waitUntil } from '../../wait-until.ts';

const STEPS = [code('greet', 'return `Hello, ${message}`;')];

describe('an API key with the scopes deploy, run and read', () => {
  let weir: Weir;
  before(async () => {
    weir = await getSharedWeir();
  });
  after(() => weir.stop());

  it('takes an empty project to a tested flow in production, runs it, reads the run and its usage, and is the author of it all', async () => {
    const { organizationId, projectId } = await weir.createTenant();
    const { key, keyId } = await createScopedKey(weir, projectId, 'deploy', 'run', 'read');
    const call = async (method: string, path: string, body?: unknown, headers = {}) => {
      const answer = await weir.call(method, path, { key, body, headers });
      assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
    const me = await call('GET', '/me');
    const flows = `/projects/${me.project.id}/flows`;
    const created = await call('POST', flows, { name: 'Greet', slug: 'greet' });
    const flow = `${flows}/${created.id}`;
    const draft = await call('PUT', `${flow}/draft`, { steps: STEPS }, { 'if-match': '*' });
    assert.deepEqual(draft.problems, []);

    const greets = { name: 'greets', message: 'Ada', expectation: { type: 'equals', value: 'Hello, Ada' } };
    await call('POST', `${flow}/test-cases`, greets);
    const { test_run_id } = await call('POST', `${flow}/test-runs`, {});
    const tested = await waitUntil(async () => {
      const testRun = await call('GET', `${flow}/test-runs/${test_run_id}`);
      return testRun.status !== 'started' && testRun;
    });
    assert.equal(tested.passed, 1, JSON.stringify(tested));

    const { version } = await call('POST', `${flow}/versions`, { note: 'The first' });
    await call('PUT', `${flow}/production`, { version });
    const path = `/seq/${me.organization.slug}/${me.project.slug}/greet`;
    const run = await call('POST', `${path}/execute`, { message: 'Ada' });
    assert.deepEqual([run.status, run.result], ['completed', 'Hello, Ada']);
    const { runs } = await call('GET', `/projects/${projectId}/runs?status=completed`);
    assert.ok(
      runs.some((one: { executionId: string; keyId: string }) => one.executionId === run.executionId),
    );

    // The worker may be counting one of the runs at this moment.
    const used = await waitUntil(async () => {
      await auditUsage(weir.db, organizationId);
      const usage = await call('GET', `/projects/${projectId}/usage?by=version`);
      return usage.entries.length === 2 && usage.entries;
    });
    assert.deepEqual(
      used.map((entry: { version: number; runs: number }) => [entry.version, entry.runs]).sort(),
      [
        [0, 1],
        [1, 1],
      ],
    );

    const entries = await weir.db
      .selectFrom('audit_entry')
      .select(['actor', 'action'])
      .where('organization_id', '=', organizationId)
      .orderBy('id')
      .execute();
    assert.deepEqual(
      entries.map(({ action }) => action),
      [
        'flow.create',
        'flow.edit',
        'test_case.create',
        'test_run.start',
        'flow.publish',
        'flow.set_production',
      ],
    );
    assert.ok(entries.every(({ actor }) => actor === `api_key/${keyId}`));
  });
});

import assert from 'node:assert/strict';
import { insertFlow } from '../../../db/flows/flows.ts';
import { CODE, RUNS } from '../../../db/usage/count-usage.ts';
import { DRAFT_VERSION } from '../../../flow/definition.ts';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir usage', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
  });
  after(async () => {
    await weir.stop();
  });

  it('sums up by day, flow or key, for an organization and a project', async () => {
    const env = {
      WEIR_STATE_DIR: '/nonexistent',
      WEIR_URL: weir.url,
      WEIR_TOKEN: await provider.token('ann'),
    };
    const run = (...args: string[]) => weirIn(env, args);
    await run('org', 'create', 'acme');
    await run('project', 'create', 'acme/main');
    for (const args of [
      ['acme'],
      ['acme/main', '--by', 'flow', '--from', '2026-01-01', '--to', '2026-01-02'],
    ]) {
      const { code, stderr } = await run('usage', ...args);
      assert.equal(code, 0, stderr);
    }
    assert.match(await fail(2, run('usage', 'acme/main/hello')), /must be a path: org or org\/project/);
    assert.match(await fail(2, run('usage', 'acme', '--from', 'soon')), /It must be a day/);
    await fail(2, run('usage', 'acme', '--by', 'moon'));
  });

  it('names flows and versions with their project, drafts, code and users', async () => {
    const env = {
      WEIR_STATE_DIR: '/nonexistent',
      WEIR_URL: weir.url,
      WEIR_TOKEN: await provider.token('bob'),
    };
    for (const args of [
      ['org', 'create', 'birch'],
      ['project', 'create', 'birch/main'],
    ])
      await weirIn(env, args);
    const { project_id, organization_id } = await weir.db
      .selectFrom('project')
      .innerJoin('organization', 'organization.id', 'organization_id')
      .select(['project.id as project_id', 'organization_id'])
      .where('organization.slug', '=', 'birch')
      .executeTakeFirstOrThrow();
    const flow = await insertFlow(weir.db, { projectId: project_id, slug: 'hello', name: 'Hello' });
    const counted = { latency: -1, count: 1, failures: 0, prompt_tokens: 0, completion_tokens: 0 };
    const row = { organization_id, project_id, flow_id: flow.id, key_id: '', day: new Date().toISOString() };
    await weir.db
      .insertInto('usage')
      .values([
        { ...row, ...counted, version: DRAFT_VERSION, subject: RUNS, microcredits: 0 },
        { ...row, ...counted, version: 1, subject: CODE, microcredits: 1 },
      ])
      .execute();
    for (const [by, names] of [
      ['flow', ['main/hello']],
      ['version', ['main/hello v1', 'main/hello draft']],
      ['model', ['code']],
      ['key', ['users and test runs']],
    ] as const) {
      const { stdout, stderr } = await weirIn(env, ['usage', 'birch', '--by', by]);
      const [, ...lines] = stdout.trim().split('\n');
      assert.deepEqual(
        lines.map((line) => line.split(/ {2,}/)[0]),
        names,
        stderr,
      );
    }
  });
});

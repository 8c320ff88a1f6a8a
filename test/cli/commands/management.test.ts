import assert from 'node:assert/strict';
import { insertMember } from '../../../db/tenants/memberships.ts';
import type { IdentityProvider } from '../../fakes/identity-provider.ts';
import type { Weir } from '../../harness.ts';
import { getSharedWeir } from '../../shared-weir.ts';
import { fail, type Outcome, weirIn } from '../cli-harness.ts';

describe('weir on a laptop that has a token and nothing else', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let env: { [name: string]: string };
  before(async () => {
    provider = (await getSharedWeir()).provider;
    weir = await getSharedWeir();
    const WEIR_TOKEN = await provider.token('ann');
    env = { WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_TOKEN };
    await succeed('org', 'create', 'acme', '--name', 'Acme');
    await succeed('project', 'create', 'acme/main');
  });
  after(async () => {
    await weir.stop();
  });

  const run = (...args: string[]): Promise<Outcome> => weirIn(env, args);
  async function succeed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const succeedJson = async (...args: string[]) => JSON.parse(await succeed(...args, '--json'));

  it('creates organizations and projects, lists them and deletes them by their names', async () => {
    assert.match(await succeed('org', 'list'), /^acme +Acme +owner +[\d.]+$/m);
    await succeed('project', 'create', 'acme/gone', '--name', 'Gone');
    assert.match(await succeed('project', 'list', 'acme'), /^acme\/gone +Gone$/m);
    assert.match(await fail(2, run('project', 'delete', 'acme/gone', '--confirm', 'acme')), /must be gone/);
    assert.match(
      await succeed('project', 'delete', 'acme/gone', '--confirm', 'gone'),
      /^Deleted project acme\/gone/,
    );
    assert.match(
      await fail(1, run('project', 'delete', 'acme/gone', '--confirm', 'gone')),
      /^The project acme\/gone does not exist, or you cannot access it/,
    );
    assert.match(await fail(1, run('org', 'create', 'acme')), /slug acme.* \(CONFLICT, request /);
    await succeed('org', 'create', 'brief');
    assert.match(
      await succeed('org', 'delete', 'brief', '--confirm', 'brief'),
      /^Deleted organization brief/,
    );
    const organizations = await succeedJson('org', 'list');
    assert.deepEqual(
      organizations.map(({ slug }: { slug: string }) => slug),
      ['acme'],
    );
  });

  it('knows no organization of others, under the same words as one that does not exist', async () => {
    const { organization } = await weir.createTenant();
    const unknown = (slug: string) => `The organization ${slug} does not exist, or you cannot access it.`;
    for (const slug of [organization, 'nobody'])
      assert.ok((await fail(1, run('member', 'list', slug))).startsWith(unknown(slug)));
  });

  it('adds, changes and removes members', async () => {
    await succeed('member', 'add', 'acme', 'bob|1', '--role', 'admin');
    assert.match(await succeed('member', 'list', 'acme'), /^bob\|1 .* admin /m);
    assert.equal((await succeedJson('member', 'set-role', 'acme', 'bob|1', 'member')).role, 'member');
    assert.equal(await succeed('member', 'remove', 'acme', 'bob|1'), 'Removed bob|1 from acme.\n');
    await fail(1, run('member', 'remove', 'acme', 'bob|1'));
    await fail(2, run('member', 'add', 'acme', 'bob', '--role', 'owner'));
  });

  it('hands an organization on, and leaves it', async () => {
    await succeed('org', 'create', 'handed-on');
    assert.match(await fail(1, run('member', 'leave', 'handed-on')), /the only owner/);
    await succeed('member', 'add', 'handed-on', 'bob|1');
    assert.equal((await succeedJson('member', 'set-role', 'handed-on', 'bob|1', 'owner')).role, 'owner');
    assert.equal(await succeed('member', 'leave', 'handed-on'), 'You have left handed-on.\n');
    assert.doesNotMatch(await succeed('org', 'list'), /handed-on/);
  });

  it('lists the models that work for an organization', async () => {
    const models = await succeedJson('models', 'acme');
    assert.ok(models.some(({ model }: { model: string }) => model.startsWith('openai/')));
    assert.match(
      await succeed('models', 'acme'),
      /^MODEL +KEY +INPUT CREDITS\/M TOKENS +OUTPUT CREDITS\/M TOKENS/,
    );
  });

  it('makes a key with scopes, which then works alone, and revokes it', async () => {
    const args = ['key', 'create', 'acme/main', '--name', 'ci', '--scope', 'deploy', 'read'];
    const created = await succeedJson(...args, '--expires', '2999-01-01');
    assert.deepEqual([created.scopes, created.expiresAt], [['read', 'deploy'], '2999-01-01T00:00:00.000Z']);
    const byKey = { WEIR_URL: weir.url, WEIR_API_KEY: created.key };
    assert.match((await weirIn(byKey, ['runs', 'list', 'acme/main'])).stdout, /No runs were found/);
    assert.match(
      await fail(1, weirIn(byKey, ['member', 'list', 'acme'])),
      /not an API key.*WEIR_API_KEY was sent/,
    );
    assert.match(await succeed('keys', 'list', 'acme/main'), /weir_live_\w{8} +ci +read deploy +active/);
    const refusal = await fail(2, run('key', 'revoke', 'acme/main', created.key));
    assert.equal(refusal, 'Give the key as key list prints it, without its secret.\n');
    assert.match(
      await succeed('key', 'revoke', 'acme/main', `weir_live_${created.keyId}`),
      new RegExp(`^Revoked ${created.keyId}: `),
    );
    assert.equal((await succeedJson('key', 'list', 'acme/main'))[0].state, 'revoked');
    assert.match(
      await fail(2, run('key', 'create', 'acme/main', '--name', 'x', '--scope', 'all')),
      /choices/,
    );
  });

  it('shows who changed what, page after page', async () => {
    const { id: organizationId } = (await succeedJson('org', 'list'))[0];
    const entry = { organization_id: organizationId, actor: 'service', action: 'a.test', resource_id: 'r' };
    const entries = Array.from({ length: 205 }, () => ({
      ...entry,
      details: '{}',
      request_id: organizationId,
    }));
    await weir.db.insertInto('audit_entry').values(entries).execute();
    const all = await succeedJson('audit-log', 'acme', '--action', 'a.test', '--limit', '1000');
    assert.equal(all.length, 205);
    assert.equal((await succeedJson('audit-log', 'acme', '--action', 'a.test', '--limit', '3')).length, 3);
    assert.match(await succeed('audit-log', 'acme', '--actor', 'ann'), /ann +organization\.create/);
  });

  it('shows credits and the ledger', async () => {
    const { balance } = await succeedJson('credits', 'show', 'acme');
    assert.equal(typeof balance, 'number');
    assert.ok(Array.isArray(await succeedJson('credits', 'ledger', 'acme', '--kind', 'charge')));
  });

  it('shows and rotates the webhook secret', async () => {
    const { secretPreview } = await succeedJson('webhook-secret', 'show', 'acme');
    const { newSecret } = await succeedJson('webhook-secret', 'rotate', 'acme');
    assert.match(newSecret, /^whsec_/);
    assert.notEqual(newSecret.slice(0, 10), secretPreview.slice(0, 10));
    assert.match(await succeed('webhook-secret', 'show', 'acme'), /; the one before signs until /);
    await succeed('webhook-secret', 'rotate', 'acme', '--no-grace');
    assert.match(await succeed('webhook-secret', 'show', 'acme'), /, version 3$/m);
  });

  it('sends, lists and shows deliveries', async () => {
    const { id } = await succeedJson('deliveries', 'test', 'acme', '--url', 'https://1.1.1.1/hook');
    assert.match(
      await succeed('deliveries', 'list', 'acme', '--event', 'flow.completed'),
      new RegExp(`^${id} `, 'm'),
    );
    assert.match(
      await succeed('deliveries', 'show', 'acme', id),
      /flow\.completed to https:\/\/1\.1\.1\.1\/hook/,
    );
    const period = ['--since', '2026-01-01', '--until', '2026-01-02'];
    assert.deepEqual(await succeedJson('deliveries', 'recover', 'acme', ...period), {
      recovered: 0,
    });
  });

  it('lists the assistants of the user', async () => {
    assert.match(await succeed('assistant', 'list'), /You have no connected assistants/);
    assert.match(
      await fail(1, run('assistant', 'disconnect', '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11')),
      /no such connected assistant/,
    );
  });

  it('shows what a role may not do in a sentence', async () => {
    const { id: organizationId } = (await succeedJson('org', 'list'))[0];
    await insertMember(weir.db, { organizationId, userId: 'eve', role: 'member' });
    const asEve = { ...env, WEIR_TOKEN: await provider.token('eve') };
    assert.match(
      await fail(1, weirIn(asEve, ['key', 'list', 'acme/main'])),
      /an admin or owner.*\(FORBIDDEN, request /,
    );
    const { key: WEIR_API_KEY, organization } = await weir.createTenant();
    assert.match(
      await fail(
        1,
        weirIn({ ...env, WEIR_TOKEN: '', WEIR_API_KEY }, ['flow', 'list', `${organization}/project`]),
      ),
      /WEIR_API_KEY was sent\. \(FORBIDDEN, request /,
    );
  });
});

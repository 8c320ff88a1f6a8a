import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseApiKey, secretMatches } from '../../../api/auth/api-key.ts';
import { getProject } from '../../../cli/operator/on-database.ts';
import { findApiKey, insertApiKey } from '../../../db/tenants/api-keys.ts';
import { takeStartLock } from '../../../dev/processes/process-lock.ts';
import { fail, PEPPER, ROOT, useOperator, weirIn } from '../cli-harness.ts';

describe('weir operator', () => {
  const { cli, weir, succeed, succeedJson } = useOperator();

  describe('org and project', () => {
    it('list what was created, as a table and as JSON', async () => {
      assert.match(
        await succeed('org', 'list'),
        /^SLUG +NAME +ID +CREDITS +UNDER WAY +SUSPENDED\nacme +Acme +[\da-f-]{36} +[\d.]+ +0 +-\n$/,
      );
      const [project] = await succeedJson('project', 'list');
      assert.deepEqual([project.organization, project.slug, project.name], ['acme', 'main', 'main']);
    });

    it('refuse a taken slug with a sentence, and an invalid one as a usage error', async () => {
      assert.match(
        await succeed('org', 'create', 'poor'),
        /^Created organization poor\. Its runs need credits: weir operator credits grant poor 1000$/m,
      );
      assert.match(
        await fail(1, weir('org', 'create', 'acme')),
        /There is already an organization with the slug acme/,
      );
      assert.match(await fail(2, weir('org', 'create', 'Not A Slug')), /lower-case/);
      assert.match(await fail(1, weir('project', 'create', 'nobody/x')), /no organization nobody/);
      await fail(2, weir('project', 'create', 'acme'));
      assert.equal(
        await fail(2, weir('key', 'list', 'acme')),
        '"acme" is not the path of a project: write it as org/project.\n',
      );
      await fail(2, weir('org', 'destroy'));
    });
  });

  describe('delete', () => {
    it('needs the name twice, frees the slug, and is in the audit log', async () => {
      await succeed('org', 'create', 'gone');
      await succeed('project', 'create', 'gone/main');
      const example = path.join(ROOT, 'examples/parallel.yaml');
      const { flow } = await succeedJson('flow', 'import', example, '--project', 'gone/main');
      const steps: [kind: string, path: string][] = [
        ['flow', flow],
        ['project', 'gone/main'],
        ['org', 'gone'],
      ];
      for (const [kind, place] of steps) {
        const slug = place.split('/').at(-1) as string;
        await fail(2, weir(kind, 'delete', place));
        assert.match(
          await fail(2, weir(kind, 'delete', place, '--confirm', 'other')),
          new RegExp(`--confirm must be ${slug}`),
        );
        assert.match(await succeed(kind, 'delete', place, '--confirm', slug), /^Deleted /);
        assert.match(await fail(1, weir(kind, 'delete', place, '--confirm', slug)), /There is no /);
      }
      const entries = await cli.database.db
        .selectFrom('audit_entry')
        .select('action')
        .where('action', 'like', '%.delete')
        .where('actor', '=', 'operator')
        .orderBy('created_at')
        .execute();
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['flow.delete', 'project.delete', 'organization.delete'],
      );
      await succeed('org', 'create', 'gone');
    });
  });

  describe('member', () => {
    it('changes a role and removes a member, each in the audit log', async () => {
      await succeed('member', 'add', 'acme', 'ann', '--role', 'owner');
      assert.equal((await succeedJson('member', 'set-role', 'acme', 'ann', 'member')).role, 'member');
      await succeed('member', 'set-role', 'acme', 'ann', 'member');
      await fail(2, weir('member', 'set-role', 'acme', 'ann', 'king'));
      await fail(1, weir('member', 'set-role', 'acme', 'nobody', 'admin'));
      await succeed('member', 'remove', 'acme', 'ann');
      assert.match(await fail(1, weir('member', 'remove', 'acme', 'ann')), /no such member/);
      const log = await succeedJson('audit-log', 'acme', '--limit', '2');
      assert.deepEqual(
        log.map(({ action, actor, resourceId }: Record<string, string>) => [action, actor, resourceId]),
        [
          ['member.remove', 'operator', 'ann'],
          ['member.update', 'operator', 'ann'],
        ],
      );
      assert.match(await succeed('audit-log', 'acme', '--action', 'member.update'), /member\.update +ann/);
      assert.match(await succeed('audit-log', 'acme', '--actor', 'someone'), /no entries/);
      await fail(2, weir('audit-log', 'acme', '--since', 'yesterday'));
    });
  });

  describe('key', () => {
    it('creates a key that authenticates, lists it without its secret and revokes it as it is listed', async () => {
      const created = await succeedJson(
        'key',
        'create',
        'acme/main',
        '--name',
        'ci',
        '--environment',
        'test',
        '--scope',
        'read',
        'deploy',
      );
      const parts = parseApiKey(created.key);
      const stored = await findApiKey(cli.database.db, parts?.keyId ?? '');
      assert.equal(secretMatches(parts?.secret ?? '', stored?.secret_hmac, PEPPER), true);
      assert.equal(stored?.environment, 'test');
      const listed = await succeed('key', 'list', 'acme/main');
      assert.match(listed, new RegExp(`weir_test_${parts?.keyId} +ci +read deploy +active`));
      assert.equal(listed.includes(parts?.secret ?? ''), false);
      const refusal = await fail(2, weir('key', 'revoke', 'acme/main', created.key));
      assert.equal(refusal, 'Give the key as key list prints it, without its secret.\n');
      await succeed('key', 'revoke', 'acme/main', `weir_test_${parts?.keyId}`);
      const [row] = await succeedJson('key', 'list', 'acme/main');
      assert.equal(row.state, 'revoked');
      assert.match(await fail(1, weir('key', 'revoke', 'acme/main', 'nothere1')), /no API key nothere1/);
    });

    it('lists who created each key', async () => {
      const { db } = cli.database;
      const { id: projectId } = await getProject(db, 'acme/main');
      const secretHmac = Buffer.alloc(32);
      const key = { projectId, keyId: 'madebyan', environment: 'live', name: 'hers', secretHmac } as const;
      await insertApiKey(db, { ...key, createdBy: 'ann' });
      await succeed('key', 'create', 'acme/main', '--name', 'ours');
      const listed = await succeed('key', 'list', 'acme/main');
      for (const row of [/ hers .* active .* ann +-$/m, / ours .* active .* operator +-$/m])
        assert.match(listed, row);
      const rows: { name: string; createdBy: string | null }[] = await succeedJson(
        'key',
        'list',
        'acme/main',
      );
      const creatorOf = (name: string) => rows.find((row) => row.name === name)?.createdBy;
      assert.deepEqual([creatorOf('hers'), creatorOf('ours')], ['ann', null]);
    });

    it('refuses an expiry in the past', async () => {
      const args = ['key', 'create', 'acme/main', '--name', 'x', '--expires', '2020-01-01'];
      assert.match(await fail(2, weir(...args)), /in the past/);
    });
  });

  describe('credits', () => {
    it('grants once per key', async () => {
      const grant = ['credits', 'grant', 'acme', '12.5', '--idempotency-key', 'invoice-1'];
      assert.deepEqual(await succeedJson(...grant), { organization: 'acme', granted: true, balance: 12.5 });
      assert.deepEqual(await succeedJson(...grant), { organization: 'acme', granted: false, balance: 12.5 });
      await fail(2, weir('credits', 'grant', 'acme', '0'));
      await fail(2, weir('credits', 'grant', 'acme', '1e3'));
    });
  });

  describe('the audit log', () => {
    it('has one entry by the operator for each write, and none for a refused one or one that changed nothing', async () => {
      const example = path.join(ROOT, 'examples/parallel.yaml');
      const { id } = await succeedJson('org', 'create', 'audited');
      await succeed('project', 'create', 'audited/main');
      await fail(1, weir('project', 'create', 'audited/main'));
      const { keyId } = await succeedJson('key', 'create', 'audited/main', '--name', 'x');
      await succeed('key', 'revoke', 'audited/main', keyId);
      await succeed('key', 'revoke', 'audited/main', keyId);
      await succeed('member', 'add', 'audited', 'ada', '--role', 'owner');
      await fail(1, weir('member', 'add', 'audited', 'ada'));
      const grant = ['credits', 'grant', 'audited', '12.5', '--idempotency-key', 'invoice-1'];
      await succeed(...grant);
      await succeed(...grant);
      await succeed('flow', 'import', example, '--project', 'audited/main', '--production');
      await succeed('flow', 'import', example, '--project', 'audited/main');
      await succeed('flow', 'publish', 'audited/main/parallel', '--note', 'second');
      await fail(1, weir('flow', 'promote', 'audited/main/parallel', '9'));
      await succeed('flow', 'promote', 'audited/main/parallel', '2');
      const entries = await cli.database.db
        .selectFrom('audit_entry')
        .select(['actor', 'action', 'details'])
        .where('organization_id', '=', id)
        .orderBy('id')
        .execute();
      assert.deepEqual(
        entries.map(({ action }) => action),
        [
          'organization.create',
          'project.create',
          'api_key.create',
          'api_key.revoke',
          'member.add',
          'credits.grant',
          'flow.create',
          'flow.publish',
          'flow.set_production',
          'flow.edit',
          'flow.publish',
          'flow.set_production',
        ],
      );
      for (const { actor } of entries) assert.equal(actor, 'operator');
      assert.deepEqual(entries.at(-1)?.details, { version: 2 });
    });
  });

  describe('configuration', () => {
    it('is the state of a local npm start that runs when no variable is set', async () => {
      const local = await mkdtemp(path.join(cli.folder, 'state-'));
      const bare = { WEIR_STATE_DIR: local };
      const without = await fail(1, weirIn(bare, ['operator', 'org', 'list']));
      assert.match(
        without,
        /^DATABASE_URL is not set, and .*state-\S+ has no state of npm start\..*WEIR_STATE_DIR.*\n$/,
      );
      await writeFile(path.join(local, 'env.json'), JSON.stringify({ DATABASE_URL: cli.database.url }));
      // The state may have been copied from the folder of a start that runs there.
      const stopped = await fail(1, weirIn(bare, ['operator', 'org', 'list']));
      assert.match(stopped, /^npm start is not running; \S+ has the state of its last run\./);
      const lock = takeStartLock(local);
      const { stdout } = await weirIn(bare, ['operator', 'org', 'list', '--json']);
      lock.release();
      assert.equal(JSON.parse(stdout)[0].slug, 'acme');
    });

    it('that leads nowhere is reported in a sentence', async () => {
      const nowhere = { ...cli.env, DATABASE_URL: 'postgres://127.0.0.1:9/x' };
      assert.match(
        await fail(1, weirIn(nowhere, ['operator', 'org', 'list'])),
        /^The database cannot be reached/,
      );
    });
  });
});

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { recordAssistantUse } from '../../../db/tenants/connected-assistants.ts';
import { fail, useOperator } from '../cli-harness.ts';

describe('weir operator assistant', () => {
  const { cli, weir, succeed, succeedJson } = useOperator();

  it('lists the connected assistants of a user and disconnects one, in the audit log', async () => {
    await succeed('member', 'add', 'acme', 'eve');
    assert.match(await succeed('assistant', 'list', 'eve'), /no connected assistants/);
    assert.match(
      await fail(1, weir('assistant', 'list', 'eve@acme.example')),
      /No user with the id .* is known/,
    );
    const consentedAt = new Date(0);
    const use = { userId: 'eve', clientId: 'a-client', name: 'Aide', scopes: ['flows:read'], consentedAt };
    assert.ok(await recordAssistantUse(cli.database.db, use));
    assert.match(await succeed('assistant', 'list', 'eve'), /Aide +a-client +flows:read/);
    const [{ id }] = await succeedJson('assistant', 'list', 'eve');
    await fail(1, weir('assistant', 'disconnect', 'ann', id));
    await fail(1, weir('assistant', 'disconnect', 'eve', 'x'));
    assert.equal(await succeed('assistant', 'disconnect', 'eve', id), 'Disconnected Aide from eve.\n');
    assert.equal(await recordAssistantUse(cli.database.db, use), false);
    assert.match(await fail(1, weir('assistant', 'disconnect', 'eve', id)), /no such connected assistant/);
    assert.match(
      await succeed('audit-log', 'acme', '--action', 'assistant.disconnect'),
      new RegExp(`operator +assistant\\.disconnect +${id}`),
    );
  });

  it('lists also more than a thousand assistants, and members', async () => {
    await sql`
      insert into connected_assistant (user_id, client_id, scopes, consented_at)
      select 'bob', 'client-' || number, '{}', now() from generate_series(1, 1001) as number`.execute(
      cli.database.db,
    );
    await sql`
      insert into membership (organization_id, user_id, role)
      select id, 'user-' || number, 'member' from organization, generate_series(1, 1001) as number
      where slug = 'acme'`.execute(cli.database.db);
    assert.equal((await succeedJson('assistant', 'list', 'bob')).length, 1_001);
    const members: { user_id: string }[] = await succeedJson('member', 'list', 'acme');
    assert.equal(members.filter(({ user_id }) => user_id.startsWith('user-')).length, 1_001);
  });
});

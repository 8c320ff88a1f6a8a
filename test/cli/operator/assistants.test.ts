import assert from 'node:assert/strict';
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
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { recordAssistantUse } from '../../../db/tenants/connected-assistants.ts';
import { insertMember } from '../../../db/tenants/memberships.ts';
import { getSharedWeir, type SharedWeir } from '../../shared-weir.ts';
import { fail } from '../cli-harness.ts';
import { createOperator, type Operator } from '../operator-cli.ts';

describe('weir assistant, of another user', () => {
  let weir: SharedWeir;
  let operator: Operator;
  before(async () => {
    weir = await getSharedWeir();
    operator = await createOperator(weir);
  });
  after(() => weir.stop());

  it('lists the assistants of a user and disconnects one, recorded in the organizations of the user', async () => {
    const { organization, organizationId } = await weir.createTenant();
    const userId = `eve|${randomUUID()}`;
    const list = ['assistant', 'list', '--user', userId];
    assert.match(await fail(1, operator.run(...list)), /No user with this id is known/);
    await insertMember(weir.db, { organizationId, userId, role: 'member' });
    assert.match(await operator.succeed(...list), /The user has no connected assistants/);
    const consentedAt = new Date(0);
    const use = { userId, clientId: 'a-client', name: 'Aide', scopes: ['flows:read'], consentedAt };
    assert.ok(await recordAssistantUse(weir.db, use));
    assert.match(await operator.succeed(...list), /Aide +a-client +flows:read/);
    const [{ id }] = await operator.succeedJson(...list);
    const disconnect = ['assistant', 'disconnect', id, '--user'];
    await fail(1, operator.run(...disconnect, 'ann'));
    assert.equal(await operator.succeed(...disconnect, userId), `Disconnected ${id}.\n`);
    assert.equal(await recordAssistantUse(weir.db, use), false);
    assert.match(await fail(1, operator.run(...disconnect, userId)), /no such connected assistant/);
    assert.match(
      await operator.succeed('audit-log', organization, '--action', 'assistant.disconnect'),
      new RegExp(`${operator.actor} +assistant\\.disconnect +${id}`),
    );
  });

  it('needs an operator, and without a user the JWT of a person', async () => {
    assert.match(await fail(1, operator.run('assistant', 'list')), /takes the JWT of a user/);
  });
});

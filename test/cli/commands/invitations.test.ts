import assert from 'node:assert/strict';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../fakes/identity-provider.ts';
import { startWeir, type Weir } from '../../harness.ts';
import { createOrganization, type Organization } from '../../organization.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir invitation, over HTTP alone', () => {
  let provider: IdentityProvider;
  let weir: Weir;
  let acme: Organization;
  before(async () => {
    provider = await startIdentityProvider();
    weir = await startWeir({ worker: false, env: { ...provider.env, WEIR_OIDC_AUDIENCE: AUDIENCE } });
    acme = await createOrganization(weir, provider);
  });
  after(async () => {
    await weir.stop();
    await provider.close();
  });
  const as = (token: string, ...args: string[]) =>
    weirIn({ WEIR_STATE_DIR: '/nonexistent', WEIR_URL: weir.url, WEIR_TOKEN: token }, args);

  it('invites somebody, who finds the invitation and joins', async () => {
    const email = 'bea@example.com';
    const bea = await provider.token('bea', { email, email_verified: true });
    const created = await as(acme.token.owner, 'invitation', 'create', acme.organization, email);
    assert.equal(created.code, 0, created.stderr);
    const id = /console\/invitations\/([\da-f-]{36}) /.exec(created.stdout)?.[1] ?? '';
    const listed = await as(acme.token.owner, 'invitation', 'list', acme.organization);
    assert.match(listed.stdout, new RegExp(`^${id} +${email} +member +open `, 'm'));
    const found = (await as(bea, 'whoami')).stdout;
    assert.match(
      found,
      new RegExp(`^Invited to ${acme.organization} .*: weir invitation accept ${id}$`, 'm'),
    );
    const joined = await as(bea, 'invitation', 'accept', id);
    assert.match(joined.stdout, new RegExp(`^You have joined ${acme.organization} .* as member\\.$`, 'm'));
    assert.match((await as(bea, 'whoami')).stdout, new RegExp(`^${acme.organization} \\(member\\)$`, 'm'));
  });

  it('revokes an invitation, which then tells why it cannot be accepted', async () => {
    const email = 'cleo@example.com';
    const args = ['invitation', 'create', acme.organization, email, '--role', 'admin', '--json'];
    const { id } = JSON.parse((await as(acme.token.admin, ...args)).stdout);
    const revoked = await as(acme.token.admin, 'invitation', 'revoke', acme.organization, id);
    assert.equal(revoked.code, 0, revoked.stderr);
    const cleo = await provider.token('cleo', { email, email_verified: true });
    const refused = await fail(1, as(cleo, 'invitation', 'accept', id));
    assert.match(refused, /No such invitation exists for cleo@example\.com/);
    const nobody = await provider.token('dan', { email: 'dan@example.com' });
    assert.match(await fail(1, as(nobody, 'invitation', 'accept', id)), /verify it there and sign in again/);
  });
});

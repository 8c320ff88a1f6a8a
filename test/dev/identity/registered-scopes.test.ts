import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import { MCP_SCOPES } from '../../../api/auth/scopes.ts';
import { useIdentityProvider } from './identity-harness.ts';

const ALL = ['openid', 'offline_access', 'profile', 'email', 'manage', ...MCP_SCOPES].join(' ');

describe('the scopes with which a client registers', () => {
  const { identity, register, authorizeUrl, signIn, exchange } = useIdentityProvider();

  /** Answers the page of consent for a request, and the scope of the token that it brings. */
  const authorize = async (clientId: string, scope: string) => {
    const { browser, consent } = await signIn(authorizeUrl(clientId, { scope }));
    const { body } = await exchange(clientId, (await browser.submit('/confirm')).url);
    return { page: consent.text, scope: decodeJwt(body.access_token ?? '').scope };
  };

  for (const [sent, registered] of [
    ['claudeai', ALL],
    ['', ALL],
    ['flows:read claudeai flows:read', 'flows:read'],
    ['mcp:tools offline_access flows:run', 'offline_access flows:run'],
  ] as const)
    it(`are those that exist here, or all: ${JSON.stringify(sent)}`, async () => {
      const { status, scope } = await register({ scope: sent });
      assert.deepEqual([status, scope], [201, registered]);
    });

  it('are left open by a client that names none', async () => {
    const { status, scope } = await register();
    assert.deepEqual([status, scope], [201, undefined]);
  });

  it('are no limit: a client may step up, and its user is asked about the wider scope', async () => {
    const { client_id } = await register({ scope: 'flows:read' });
    assert.equal((await authorize(client_id, 'flows:read')).scope, 'flows:read');
    const wider = await authorize(client_id, 'flows:read flows:write');
    assert.match(wider.page, /Allow access\?[\s\S]*flows:read[\s\S]*flows:write/);
    assert.equal(wider.scope, 'flows:read flows:write');
  });

  it('may be unknown in the request of a token too, which then has the smallest', async () => {
    const { client_id } = await register({ scope: 'claudeai' });
    assert.equal((await authorize(client_id, 'claudeai')).scope, 'flows:read');
    assert.equal((await authorize(client_id, 'claudeai flows:run')).scope, 'flows:run');
  });

  it('are listed in the metadata', async () => {
    const answer = await fetch(`${identity.provider.issuer}/.well-known/openid-configuration`);
    const { scopes_supported } = (await answer.json()) as { scopes_supported: string[] };
    assert.deepEqual(scopes_supported, ALL.split(' '));
  });
});

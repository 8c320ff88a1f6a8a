// Where the page of the console may connect to in order to sign users in.
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type ConsoleSite, listen, serveConsole, urlOf } from './console-harness.ts';

describe('the page of the console may connect to', () => {
  let issuer: Server;
  let asked: number;
  let answer: RequestListener;
  let sites: ConsoleSite[];
  beforeEach(async () => {
    asked = 0;
    sites = [];
    issuer = await listen(
      createServer((request, response) => {
        asked += 1;
        answer(request, response);
      }),
    );
  });
  afterEach(() => {
    for (const site of sites) site.close();
    issuer.close();
    issuer.closeAllConnections();
  });

  /** Answers with a document of the issuer that was asked, and these fields. */
  const says =
    (fields: object): RequestListener =>
    (request, response) => {
      const [path, rest] = (request.url ?? '').split('/.well-known/openid-configuration');
      const document = { issuer: urlOf(issuer) + path, jwks_uri: `${urlOf(issuer)}/keys`, ...fields };
      response.writeHead(rest === '' ? 200 : 404).end(JSON.stringify(document));
    };
  const site = async (path = '') => {
    const made = await serveConsole({}, { WEIR_OIDC_ISSUER: urlOf(issuer) + path });
    sites.push(made);
    return made;
  };
  const allowed = async ({ url }: ConsoleSite) => {
    const policy = (await fetch(`${url}/console/`)).headers.get('content-security-policy') ?? '';
    return /connect-src ([^;]*)/.exec(policy)?.[1]?.split(' ');
  };

  it('the service and the issuer, and no others where the issuer names none', async () => {
    answer = says({ token_endpoint: `${urlOf(issuer)}/token` });
    assert.deepEqual(await allowed(await site('/realms/weir')), ["'self'", urlOf(issuer)]);
  });

  it('the origins of other endpoints that the issuer names, to which the page sends requests', async () => {
    answer = says({
      token_endpoint: 'https://tokens.example/token',
      revocation_endpoint: 'https://tokens.example/revoke',
      authorization_endpoint: 'https://pages.example/auth',
      jwks_uri: 'https://keys.example/keys',
    });
    assert.deepEqual(await allowed(await site()), ["'self'", urlOf(issuer), 'https://tokens.example']);
  });

  it('nothing that the document of another issuer names', async () => {
    answer = says({ issuer: 'https://other.example', token_endpoint: 'https://tokens.example/token' });
    assert.deepEqual(await allowed(await site()), ["'self'", urlOf(issuer)]);
  });

  it('nothing that a document smuggles into the policy', async () => {
    answer = says({
      token_endpoint: "https://a.example; script-src 'unsafe-inline'/",
      revocation_endpoint: 'javascript:1',
    });
    assert.deepEqual(await allowed(await site()), ["'self'", urlOf(issuer)]);
  });

  for (const [what, how] of [
    ['an error', (_request, response) => response.writeHead(500).end()],
    ['no JSON', (_request, response) => response.end('<html>')],
    [
      'a redirect',
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
    ['a broken connection', (request) => request.destroy()],
  ] as [string, RequestListener][])
    it(`the issuer's origin alone where it answers with ${what}`, async () => {
      answer = how;
      assert.deepEqual(await allowed(await site()), ["'self'", urlOf(issuer)]);
    });

  it('the same for many pages at once, about which the issuer is asked once', async () => {
    answer = says({ token_endpoint: 'https://tokens.example/token' });
    const one = await site();
    const answers = await Promise.all(Array.from({ length: 20 }, () => allowed(one)));
    assert.equal(new Set(answers.map(String)).size, 1);
    assert.equal(asked, 1);
  });

  it('the service alone where nobody can sign in', async () => {
    const alone = await serveConsole();
    sites.push(alone);
    assert.deepEqual(await allowed(alone), ["'self'"]);
  });
});

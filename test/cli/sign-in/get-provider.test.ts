import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { explain } from '../../../cli/sign-in/identity-provider.ts';
import { fail, weirIn } from '../cli-harness.ts';

describe('weir login to a service whose metadata', () => {
  let server: Server;
  let url: string;
  let answer: unknown;
  before(async () => {
    server = createServer((_request, response) => response.end(JSON.stringify(answer)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());
  const login = (to = url) => fail(1, weirIn({ WEIR_STATE_DIR: '/nonexistent' }, ['login', to]));
  const metadata = (more: object) => ({ resource: `${url}/api/v1`, ...more });

  const rules: [rule: string, more: object, said: RegExp][] = [
    [
      'is of another service',
      { resource: 'https://other.test/api/v1' },
      /says that it is https:\/\/other\.test: sign in there/,
    ],
    ['names no identity provider', {}, /No user can sign in to .* WEIR_OIDC_ISSUER/],
    [
      'has no client for the command',
      { authorization_servers: ['https://id.test'] },
      /until its operator sets WEIR_CLI_CLIENT_ID/,
    ],
    [
      'names an identity provider without TLS',
      { authorization_servers: ['http://id.test'], weir_cli_client_id: 'c' },
      /sent over https only: the identity provider is at http:\/\/id\.test/,
    ],
    [
      'names an identity provider that is away',
      { authorization_servers: ['http://127.0.0.1:9'], weir_cli_client_id: 'c' },
      /The identity provider at http:\/\/127\.0\.0\.1:9 cannot be used: /,
    ],
    ['is not metadata', { resource: 1 }, /^Is http\S+ the address of a Weir service\? It does not say/],
  ];
  for (const [rule, more, said] of rules)
    it(`${rule} says what to do`, async () => {
      answer = metadata(more);
      assert.match(await login(), said);
    });

  it('names an issuer other than the one that answers is refused', async () => {
    answer = {
      ...metadata({ authorization_servers: [url], weir_cli_client_id: 'c' }),
      issuer: 'http://127.0.0.1:9',
    };
    assert.match(await login(), /cannot be used: .*issuer/);
  });

  it('has a clock that differs from that of this machine says to set it', () => {
    const late = Object.assign(new Error('unexpected "exp"'), { code: 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' });
    assert.throws(
      () => explain('https://id.test')(late),
      /is not valid at this time: set the clock of this machine/,
    );
  });

  it('names an identity provider without an authorization endpoint says so', async () => {
    answer = { ...metadata({ authorization_servers: [url], weir_cli_client_id: 'c' }), issuer: url };
    const folder = mkdtempSync(path.join(tmpdir(), 'weir-login-'));
    try {
      const env = { WEIR_STATE_DIR: '/nonexistent', XDG_CONFIG_HOME: folder, BROWSER: '/bin/true' };
      const said = await fail(1, weirIn(env, ['login', url]));
      assert.match(said, /^The identity provider at \S+ cannot be used: .*authorization_endpoint/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is asked for over https only', async () => {
    assert.match(
      await login('http://weir.test'),
      /sent over https only: the service is at http:\/\/weir\.test/,
    );
    assert.match(
      await login('http://127.0.0.1:9'),
      /^Is http:\/\/127\.0\.0\.1:9 the address of a Weir service\? http\S+ cannot be read \(/,
    );
  });
});

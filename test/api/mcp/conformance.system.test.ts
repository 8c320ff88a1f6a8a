import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findFreePort } from '../../../dev/processes/ports.ts';
import { createOAuthClient } from '../../fakes/oauth-client.ts';
import { startTokenProxy, type TokenProxy } from '../../fakes/token-proxy.ts';
import { startOfficial } from './official-command.ts';
import { type SignInWeir, startSignInWeir } from './sign-in-harness.ts';

const BASELINE = path.join(import.meta.dirname, 'conformance-baseline.yml');
/** Per revision, the scenarios that apply, and how many checks of each pass. */
const APPLICABLE = {
  '2025-11-25': { 'server-initialize': 2, ping: 2, 'tools-list': 3, 'dns-rebinding-protection': 2 },
  '2026-07-28': {
    'server-stateless': 24,
    'tools-list': 4,
    'dns-rebinding-protection': 2,
    caching: 4,
    'http-header-validation': 14,
    'server-sse-multiple-streams': 1,
  },
};

describe('the conformance suite', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-conformance-'));
  let proxy: TokenProxy;
  let app: SignInWeir;
  before(async () => {
    proxy = await startTokenProxy();
    app = await startSignInWeir({ worker: false, env: { WEIR_MCP_ALLOWED_ORIGINS: proxy.origin } });
    const oauth = createOAuthClient(app.identity.issuer);
    await app.signIn(oauth);
    const { access_token } = (await oauth.provider.tokens()) as { access_token: string };
    proxy.forward(app.weir.url, access_token);
  });
  after(async () => {
    await proxy.close();
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  const start = (...args: string[]) =>
    startOfficial('@modelcontextprotocol/conformance', 'conformance', folder, args);
  /** Counts the checks that passed in each scenario, by the summary of a report. */
  const passedIn = (report: string) =>
    new Map([...report.matchAll(/^[✓✗] (\S+): (\d+) passed/gm)].map(([, name, n]) => [name, Number(n)]));

  for (const [revision, scenarios] of Object.entries(APPLICABLE))
    it(`passes at revision ${revision}, except for what does not apply`, async () => {
      const { output } = start(
        ...['server', '--url', `${proxy.origin}/api/v1/mcp/`, '--suite', 'all', '--spec-version', revision],
        ...['--expected-failures', BASELINE],
      );
      const passed = passedIn(await output);
      const applied = Object.keys(scenarios).map((name) => [name, passed.get(name)]);
      assert.deepEqual(Object.fromEntries(applied), scenarios);
    });

  it('passes for the embedded identity provider as an authorization server', async () => {
    const suite = start(
      ...['authorization', '--url', app.identity.issuer, '--resource', app.mcpUrl],
      ...['--client-id', 'weir-local', '--port', String(await findFreePort())],
    );
    const [report] = await Promise.all([suite.output, suite.signIn(app.identity.issuer, app.account)]);
    const scenarios = { 'authorization-server-metadata-endpoint': 2, 'authorization-code-grant': 1 };
    assert.deepEqual(Object.fromEntries(passedIn(report)), scenarios);
  });
});

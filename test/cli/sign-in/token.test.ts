import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { MANAGEMENT_SCOPE, MCP_SCOPES } from '../../../api/auth/scopes.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../dev/identity/identity-provider.ts';
import { writeState } from '../../../dev/state-folder.ts';
import { createBrowser } from '../../fakes/browser.ts';
import { AUDIENCE, MCP_AUDIENCE } from '../../fakes/identity-provider.ts';

const CLI = path.join(import.meta.dirname, '../../../cli/weir.ts');
const EMAIL = 'admin@weir.local';

describe('weir token', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-token-'));
  let provider: IdentityProvider;
  before(async () => {
    const audiences = { audience: AUDIENCE, mcpAudience: MCP_AUDIENCE };
    provider = await startIdentityProvider({ stateFolder, audiences });
    const { issuer, scriptSecret } = provider;
    writeState(stateFolder, 'env.json', {
      WEIR_URL: 'http://127.0.0.1:1',
      identity: { issuer, scriptSecret, ...audiences },
    });
  });
  after(async () => {
    await provider.close();
    rmSync(stateFolder, { recursive: true });
  });

  let env = {};
  afterEach(() => {
    env = {};
  });
  const token = (...options: string[]) =>
    spawn(process.execPath, [CLI, 'token', ...options], {
      env: { XDG_CONFIG_HOME: '/nonexistent', WEIR_STATE_DIR: stateFolder, ...env },
    });
  const claimsOf = async (stdout: Promise<string>) => {
    const { sub, aud, scope } = decodeJwt((await stdout).trim());
    return [sub, aud, scope];
  };

  it('gets one by client credentials, for management or for MCP', async () => {
    const [management, mcp] = [text(token().stdout), text(token('--mcp').stdout)];
    assert.deepEqual(await claimsOf(management), ['weir-script', AUDIENCE, MANAGEMENT_SCOPE]);
    assert.deepEqual(await claimsOf(mcp), ['weir-script', MCP_AUDIENCE, MCP_SCOPES.join(' ')]);
  });

  it('is that of the user whom the other commands act as, and no API key', async () => {
    env = { WEIR_API_KEY: 'weir_live_key' };
    assert.equal((await claimsOf(text(token().stdout)))[0], 'weir-script');
    env = { WEIR_TOKEN: 'the.users.own', WEIR_API_KEY: 'weir_live_key' };
    assert.equal(await text(token().stdout), 'the.users.own\n');
    env = { WEIR_API_KEY: 'weir_live_key', WEIR_URL: 'http://127.0.0.1:2' };
    assert.match(await text(token().stderr), /^No user is signed in to the service at http:\S+:2\. Sign in/);
  });

  it('gets one by the device flow, of the user who signs in', async () => {
    const waiting = token('--sign-in', '--mcp');
    const stdout = text(waiting.stdout);
    const url = await new Promise<string>((resolve) => {
      let said = '';
      waiting.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const [, found] = /(http:\S+) /.exec(said) ?? [];
        if (found) resolve(found);
      });
    });
    const browser = createBrowser(provider.issuer);
    await browser.open(url);
    for (let page = await browser.submit('/device'); !page.text.includes('Email'); )
      page = await browser.submit('/device');
    const password = new Map(provider.passwords).get(EMAIL) ?? '';
    await browser.submit('/login', { email: EMAIL, password });
    await browser.submit('/confirm');
    assert.deepEqual(await claimsOf(stdout), ['dev-admin', MCP_AUDIENCE, MCP_SCOPES.join(' ')]);
  });
});

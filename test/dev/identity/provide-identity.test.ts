import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ProvidedIdentity, provideIdentity } from '../../../dev/identity/provide-identity.ts';
import { readConfig } from '../../../platform/config/config.ts';

describe('the identity provider of npm start', () => {
  const names = ['NODE_ENV', 'WEIR_EMBEDDED_IDENTITY_PROVIDER', 'WEIR_OIDC_ISSUER'];
  const kept = names.map((name) => [name, process.env[name]] as const);
  let stateFolder: string;
  let notes: string[];
  let provided: ProvidedIdentity | undefined;
  beforeEach(() => {
    for (const name of names) delete process.env[name];
    stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-provide-identity-'));
    notes = [];
  });
  afterEach(async () => {
    for (const [name, value] of kept)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await provided?.own?.close();
    rmSync(stateFolder, { recursive: true });
  });

  const provide = async (env: { [name: string]: string }) => {
    Object.assign(process.env, env);
    const none = () => undefined;
    const task = { say: none, note: (line: string) => void notes.push(line), done: none, drop: none };
    const progress = { begin: () => task, line: none };
    const config = readConfig({
      DATABASE_URL: 'postgres://127.0.0.1/weir',
      WEIR_API_KEY_PEPPER: 'pepper'.repeat(6),
      WEIR_SECRETS_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
      ...env,
    });
    provided = await provideIdentity({
      config,
      stateFolder,
      port: undefined,
      databaseUrl: 'postgres://nowhere.invalid/weir',
      baseUrl: 'http://127.0.0.1:8787',
      progress,
    });
    return provided;
  };

  it('is our own where none is configured', async () => {
    const { own, env } = await provide({});
    assert.ok(own);
    assert.equal(env.WEIR_OIDC_ISSUER, own.issuer);
  });

  for (const value of ['', 'true', 'off'])
    it(`is not started in production with WEIR_EMBEDDED_IDENTITY_PROVIDER=${value}, and a note says so`, async () => {
      const production = { NODE_ENV: 'production', ...(value && { WEIR_EMBEDDED_IDENTITY_PROVIDER: value }) };
      const { own, env, local } = await provide(production);
      assert.deepEqual([own, env, local], [undefined, {}, {}]);
      assert.match(notes.join(), /users cannot sign in until you set WEIR_OIDC_ISSUER/);
      assert.deepEqual(readdirSync(stateFolder), []);
    });

  it('is our own in production when it is turned on', async () => {
    const { own } = await provide({ NODE_ENV: 'production', WEIR_EMBEDDED_IDENTITY_PROVIDER: 'on' });
    assert.ok(own);
  });

  it('is the one that is configured', async () => {
    const { own, env } = await provide({ WEIR_OIDC_ISSUER: 'https://issuer.test' });
    assert.deepEqual([own, env, readdirSync(stateFolder)], [undefined, {}, []]);
  });
});

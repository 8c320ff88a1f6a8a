import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig } from '../../../platform/config/config.ts';

const KEY = Buffer.alloc(32, 'k').toString('base64');
const WEIR_SECRETS_KEYS = `2026:${KEY}`;

describe('readConfig', () => {
  const env = {
    DATABASE_URL: 'postgres://127.0.0.1/weir',
    WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
    WEIR_SECRETS_KEYS,
  };
  const WEIR_TEST_DIAL_MAP = JSON.stringify({ 'hooks.example': '127.0.0.1:9001' });

  it('has no dial map by default', () => {
    assert.equal(readConfig(env).dialMap, undefined);
    assert.deepEqual(readConfig({ ...env, WEIR_TEST_DIAL_MAP }).dialMap, {
      'hooks.example': '127.0.0.1:9001',
    });
  });

  it('takes listeners of webhooks only where it is told to, and never in production', () => {
    assert.equal(readConfig(env).webhookListeners, false);
    const on = { ...env, WEIR_WEBHOOK_LISTENERS: 'on' };
    assert.equal(readConfig(on).webhookListeners, true);
    assert.throws(
      () => readConfig({ ...on, NODE_ENV: 'production' }),
      /WEIR_WEBHOOK_LISTENERS must not be set in production/,
    );
  });

  it('refuses in production what is for tests: a dial map, and a bundle of their own', () => {
    const production = { ...env, NODE_ENV: 'production' };
    assert.equal(readConfig(production).production, true);
    for (const [name, value] of Object.entries({ WEIR_TEST_DIAL_MAP, WEIR_TEST_WORKFLOW_BUNDLE: 'b.js' }))
      assert.throws(
        () => readConfig({ ...production, [name]: value }),
        RegExp(`${name} must not .*production`),
      );
  });

  for (const value of ['{', '[]', '{"hooks.example": 1}', '{"hooks.example": "127.0.0.1"}'])
    it(`refuses ${JSON.stringify(value)} as a dial map`, () =>
      assert.throws(() => readConfig({ ...env, WEIR_TEST_DIAL_MAP: value }), /WEIR_TEST_DIAL_MAP/));

  it('reads the ids of operators, spaces around them aside', () => {
    assert.deepEqual([...readConfig(env).operators], []);
    const { operators } = readConfig({ ...env, WEIR_OPERATORS: 'auth0|5f7c, Ada Lovelace' });
    assert.deepEqual([...operators], ['auth0|5f7c', 'Ada Lovelace']);
  });

  for (const host of ['0.0.0.0', '::', 'localhost', 'weir-api.example'])
    it(`takes ${host} as the host to listen on`, () =>
      assert.equal(readConfig({ ...env, WEIR_HOST: host }).host, host));

  it('counts an empty variable as unset', () => {
    const names = [
      'WEIR_PORT',
      'WEIR_PROXIES',
      'WEIR_RATE_LIMIT_PER_KEY',
      'NODE_ENV',
      'WEIR_HOST',
      'TEMPORAL_ADDRESS',
    ];
    const more = [
      'WEIR_PUBLIC_URL',
      'WEIR_EGRESS_PROXY',
      'WEIR_TEST_DIAL_MAP',
      'OPENAI_BASE_URL',
      'OPENAI_API_KEY',
    ];
    const empty = Object.fromEntries([...names, ...more].map((name) => [name, '']));
    assert.deepEqual(readConfig({ ...env, ...empty }), readConfig(env));
    assert.equal(readConfig({ ...env, WEIR_PORT: ' ' }).port, 8787);
    assert.throws(() => readConfig({ ...env, DATABASE_URL: '' }), /^ {2}DATABASE_URL is not set$/m);
  });

  const wrong: [string, string, string][] = [
    ['WEIR_PORT', 'abc', 'must be a whole number from 0 to 65535; it is "abc"'],
    ['WEIR_WEBHOOK_LISTENERS', 'yes', 'must be on or off; it is "yes"'],
    ['WEIR_WORKER_ROLES', 'flow', 'must be flows, webhooks, or both separated by a comma'],
    ['WEIR_PROXIES', '11', 'must be a whole number from 0 to 10; it is "11"'],
    ['WEIR_MODEL_CONCURRENCY', '0', 'must be a whole number from 1 to 100000; it is "0"'],
    ['WEIR_MODEL_CONCURRENCY', '3000000000', 'must be a whole number from 1 to 100000; it is "3000000000"'],
    ['WEIR_HOST', '127.0.0.1 ', 'must be an IP address or the name of a host; it is "127.0.0.1 "'],
    ['WEIR_HOST', '256.1.1.1', 'must be an IP address or the name of a host; it is "256.1.1.1"'],
    ['WEIR_METRICS_HOST', 'http://a', 'must be an IP address or the name of a host; it is "http://a"'],
    ['WEIR_CODE_PRICE', '-1', 'must be a number from 0 to 1000000; it is "-1"'],
    [
      'WEIR_STARTING_CREDITS',
      '-1',
      'must be a number from 0 to 1000000000 with at most six decimal places; it is "-1"',
    ],
    ['WEIR_OPERATORS', 'ada,,ben', 'must be user ids separated by commas'],
    ['NODE_ENV', 'prod', 'must be production, development or test; it is "prod"'],
    ['DATABASE_URL', 'secret', 'is not a postgres:// address'],
    ['WEIR_API_KEY_PEPPER', 'secret', 'must have at least 32 characters'],
    ['WEIR_PUBLIC_URL', 'ftp://secret', 'is not an http:// or https:// URL'],
  ];
  for (const [name, value, problem] of wrong)
    it(`says that ${name} ${problem}`, () =>
      assert.throws(
        () => readConfig({ ...env, [name]: value }),
        ({ message }) => message.split('\n').slice(1).join() === `  ${name} ${problem}`,
      ));

  it("names the variables of Temporal's configuration when that cannot be used, and repeats no key", () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'weir-config-'));
    const file = path.join(folder, 'temporal.toml');
    writeFileSync(file, '[profile.default]\napi_key = "secret" nonsense\n');
    const messageOf = (variables: NodeJS.ProcessEnv) => {
      try {
        readConfig({ ...env, ...variables });
      } catch (error) {
        return (error as Error).message;
      }
      return 'no error';
    };
    assert.match(
      messageOf({ TEMPORAL_CONFIG_FILE: file }),
      /^Temporal's configuration cannot be used: Invalid TOML .*Correct TEMPORAL_CONFIG_FILE\.$/,
    );
    assert.ok(!messageOf({ TEMPORAL_CONFIG_FILE: file }).includes('secret'));
    writeFileSync(file, '');
    assert.match(
      messageOf({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'none' }),
      /'none'.*Correct TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE\.$/,
    );
    rmSync(folder, { recursive: true });
    assert.equal(
      messageOf({ TEMPORAL_CONFIG_FILE: file }),
      `TEMPORAL_CONFIG_FILE names ${file}, which does not exist.`,
    );
  });

  it('refuses a public URL that is not http or https', () =>
    assert.throws(() => readConfig({ ...env, WEIR_PUBLIC_URL: 'javascript:alert(1)' }), /WEIR_PUBLIC_URL/));

  it('accepts only an HTTP proxy for webhooks, and never repeats its password', () => {
    const read = (WEIR_EGRESS_PROXY: string) => readConfig({ ...env, WEIR_EGRESS_PROXY }).egressProxy;
    assert.equal(read('http://me:secret@proxy:3128')?.host, 'proxy:3128');
    for (const wrong of ['proxy:3128', 'https://me:secret@proxy', 'socks5://me:secret@proxy'])
      assert.throws(
        () => read(wrong),
        ({ message }) => message.includes('WEIR_EGRESS_PROXY') && !message.includes('secret'),
      );
  });

  it('encrypts what Temporal stores where there are keys, unless it is told only to decrypt', () => {
    assert.deepEqual(readConfig(env).temporalEncryption, { keys: [], encrypts: false });
    const WEIR_TEMPORAL_KEYS = `one:${KEY}`;
    const { keys, encrypts } = readConfig({ ...env, WEIR_TEMPORAL_KEYS }).temporalEncryption;
    assert.deepEqual([keys[0]?.id, encrypts], ['one', true]);
    const reading = readConfig({ ...env, WEIR_TEMPORAL_KEYS, WEIR_TEMPORAL_ENCRYPTION: 'off' });
    assert.equal(reading.temporalEncryption.encrypts, false);
    assert.equal(reading.temporalEncryption.keys.length, 1);
    assert.throws(
      () => readConfig({ ...env, WEIR_TEMPORAL_ENCRYPTION: 'on' }),
      /WEIR_TEMPORAL_ENCRYPTION is on: set WEIR_TEMPORAL_KEYS too/,
    );
  });

  it('reads the keys of stored secrets, the first one first', () => {
    const { secretsKeys } = readConfig({ ...env, WEIR_SECRETS_KEYS: `2027:${KEY},${WEIR_SECRETS_KEYS}` });
    assert.deepEqual(
      secretsKeys.map(({ id, key }) => [id, key.length]),
      [
        ['2027', 32],
        ['2026', 32],
      ],
    );
  });

  const URLS = [
    ...['WEIR_PUBLIC_URL', 'WEIR_OIDC_ISSUER', 'WEIR_TEMPORAL_UI_URL', 'WEIR_MODELS_URL'],
    ...['WEIR_OBJECT_STORE_ENDPOINT', 'WEIR_OBJECT_STORE_PUBLIC_ENDPOINT', 'OLLAMA_BASE_URL'],
  ];
  for (const name of URLS)
    it(`refuses a user name or password in ${name}, without repeating it`, () => {
      for (const userInfo of ['ops:S3cretPw@', 'S3cretPw@', ':S3cretPw@'])
        assert.throws(
          () => readConfig({ ...env, [name]: `https://${userInfo}weir.example/v1` }),
          ({ message }: Error) =>
            message.includes(`  ${name} must not contain a user name or password`) &&
            !message.includes('S3cretPw'),
        );
      assert.ok(readConfig({ ...env, [name]: 'https://weir.example/v1/@ops' }));
    });

  it('refuses two keys with the same id, since the id says which one decrypts', () => {
    const other = `2026:${Buffer.alloc(32, 'o').toString('base64')}`;
    for (const name of ['WEIR_SECRETS_KEYS', 'WEIR_TEMPORAL_KEYS'])
      assert.throws(
        () => readConfig({ ...env, [name]: `${WEIR_SECRETS_KEYS},${other}` }),
        RegExp(`${name} has two keys with the same id: give each an id of its own$`),
      );
  });

  for (const value of [undefined, '', KEY, '2026:', '2026:c2hvcnQ=', `${WEIR_SECRETS_KEYS},`, `a b:${KEY}`])
    it(`refuses ${JSON.stringify(value)} as keys of secrets, without repeating it`, () =>
      assert.throws(
        () => readConfig({ ...env, WEIR_SECRETS_KEYS: value }),
        (error: Error) => /WEIR_SECRETS_KEYS/.test(error.message) && !error.message.includes(KEY),
      ));
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readConfig, readDatabaseUrl } from '../../../platform/config/config.ts';
import { readEnvironment, SECRET_VARIABLES } from '../../../platform/config/read-environment.ts';

const PEPPER = 'a pepper of at least thirty-two characters';
const KEY = Buffer.alloc(32, 'k').toString('base64');

describe('secrets from files', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-secrets-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Writes a file and returns its path. */
  function file(name: string, content: string | Buffer): string {
    const target = path.join(folder, name);
    writeFileSync(target, content);
    return target;
  }

  it('are read for every variable that holds one, one line feed at the end cut off', () => {
    for (const name of SECRET_VARIABLES)
      for (const end of ['', '\n', '\r\n'])
        assert.deepEqual(readEnvironment({ [`${name}_FILE`]: file(name, `a value \n${end}`) }), {
          [name]: end === '' ? 'a value ' : 'a value \n',
        });
  });

  it('are part of the configuration, the password of the database too', () => {
    const config = readConfig({
      DATABASE_URL_FILE: file('url', 'postgres://weir@db/weir?sslmode=verify-full\n'),
      PGPASSWORD_FILE: file('password', 'p@ss+w/rd %41&\n'),
      WEIR_API_KEY_PEPPER_FILE: file('pepper', `${PEPPER}\n`),
      WEIR_SECRETS_KEYS_FILE: file('keys', `1:${KEY}\n`),
      OPENAI_API_KEY_FILE: file('openai', 'sk-1\n'),
      TEMPORAL_API_KEY_FILE: file('temporal', 'key of the engine\n'),
      WEIR_EGRESS_PROXY_FILE: file('proxy', 'http://me:secret@proxy:3128\n'),
    });
    const url = new URL(config.databaseUrl);
    assert.equal(url.searchParams.get('password'), 'p@ss+w/rd %41&');
    assert.equal(url.searchParams.get('sslmode'), 'verify-full');
    assert.equal(config.apiKeyPepper, PEPPER);
    assert.equal(config.secretsKeys[0].key.toString('base64'), KEY);
    assert.equal(config.providers.openai?.apiKey, 'sk-1');
    assert.equal(config.temporal.connectionOptions.apiKey, 'key of the engine');
    assert.equal(config.egressProxy?.password, 'secret');
  });

  it('leave a password in the address of the database as it is', () => {
    const DATABASE_URL = 'postgres://weir:mine@db/weir';
    assert.equal(readDatabaseUrl({ DATABASE_URL, PGPASSWORD: 'other' }), DATABASE_URL);
  });

  const refused: [string, () => NodeJS.ProcessEnv, RegExp][] = [
    [
      'does not exist',
      () => ({ DATABASE_URL_FILE: '/nowhere/url' }),
      /names \/nowhere\/url, which does not exist\.$/m,
    ],
    ['is a folder', () => ({ DATABASE_URL_FILE: folder }), /which is a folder\.$/m],
    ['is empty', () => ({ DATABASE_URL_FILE: file('empty', '\n') }), /which is empty\.$/m],
    ['is too large', () => ({ DATABASE_URL_FILE: '/dev/zero' }), /which has more than 65536 bytes\.$/m],
    [
      'is not text',
      () => ({ DATABASE_URL_FILE: file('binary', Buffer.from([0xff])) }),
      /which is not UTF-8 text\.$/m,
    ],
    [
      'is set besides the variable',
      () => ({ DATABASE_URL_FILE: file('both', 'postgres://b/b'), DATABASE_URL: 'postgres://a/a' }),
      /DATABASE_URL and DATABASE_URL_FILE are both set: unset one of them\.$/m,
    ],
  ];
  for (const [rule, env, problem] of refused)
    it(`are refused by the variable's name when the file ${rule}`, () => {
      assert.throws(() => readConfig(env()), problem);
      assert.throws(() => readDatabaseUrl(env()), problem);
    });

  it('are read once, so that a pipe will do', () => {
    const { stderr } = spawnSync('sh', ['-c', `printf '${PEPPER}' | "$0" api/server.ts`, process.execPath], {
      cwd: path.join(import.meta.dirname, '../../..'),
      env: {
        DATABASE_URL: 'postgres://127.0.0.1:1/none',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        WEIR_API_KEY_PEPPER_FILE: '/dev/stdin',
        WEIR_SECRETS_KEYS: `1:${KEY}`,
      },
      encoding: 'utf8',
    });
    assert.match(stderr, /Temporal does not answer/);
  });

  it('are refused all at once', () => {
    mkdirSync(path.join(folder, 'away'));
    const env = { DATABASE_URL_FILE: '/nowhere', WEIR_SECRETS_KEYS_FILE: path.join(folder, 'away') };
    assert.throws(() => readConfig(env), /DATABASE_URL_FILE.*WEIR_SECRETS_KEYS_FILE/s);
  });

  it('are possible for every variable of the service whose name says that it holds one', () => {
    const config = readFileSync(
      path.join(import.meta.dirname, '../../../platform/config/variables.ts'),
      'utf8',
    );
    const named = config.match(/^ {2}\w*(?:SECRET|PASSWORD|TOKEN|PEPPER|KEYS?)\w*(?=:)/gm) ?? [];
    const secret = named.map((name) => name.trim()).filter((name) => !name.startsWith('WEIR_RATE_LIMIT_'));
    assert.deepEqual(
      secret.filter((name) => !SECRET_VARIABLES.some((known) => known === name)),
      [],
    );
    assert.ok(secret.length > 0);
  });
});

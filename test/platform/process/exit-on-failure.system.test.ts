import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { startProgram } from '../../faults/processes.ts';
import { SECRETS_KEYS, startWeir } from '../../harness.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** The variables with which a program gets as far as Temporal. */
const NEEDED = {
  DATABASE_URL: 'postgres://127.0.0.1:1/none',
  WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
  WEIR_SECRETS_KEYS: SECRETS_KEYS,
};

describe('a program that cannot start', () => {
  for (const file of [
    'api/server.ts',
    'worker/worker.ts',
    'api/serve-with-worker.ts',
    'db/run-migrations.ts',
  ])
    it(`says why without a stack, and exits with 1: ${file}`, () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, file)], {
        env: { DATABASE_URL: 'mysql://127.0.0.1/weir' },
        encoding: 'utf8',
      });
      assert.equal(status, 1, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /DATABASE_URL/);
      assert.doesNotMatch(stderr, /\n\s+at |node:internal|\.ts:\d/);
    });

  for (const [what, env, words] of [
    ['refuses the connection', { TEMPORAL_ADDRESS: '127.0.0.1:1' }, 'the connection was refused'],
    ['has no address', { TEMPORAL_ADDRESS: 'no-such-host.invalid:7233' }, 'its host cannot be resolved'],
    [
      'speaks no TLS, and TEMPORAL_TLS asks for it',
      { TEMPORAL_TLS: 'true' },
      'it does not speak TLS: unset TEMPORAL_TLS',
    ],
    [
      'speaks no TLS, and TEMPORAL_API_KEY asks for it',
      { TEMPORAL_API_KEY: 'abc' },
      'it does not speak TLS: unset TEMPORAL_TLS, TEMPORAL_API_KEY',
    ],
  ] as const)
    it(`says in words that Temporal ${what}`, () => {
      const { status, stderr } = spawnSync(process.execPath, [path.join(ROOT, 'api/server.ts')], {
        env: { ...NEEDED, TEMPORAL_ADDRESS: process.env.TEST_TEMPORAL_ADDRESS, ...env },
        encoding: 'utf8',
      });
      assert.equal(status, 1, stderr);
      assert.ok(stderr.includes(words), stderr);
      assert.match(stderr, /TEMPORAL_ADDRESS/);
      assert.doesNotMatch(stderr, /tonic|Os \{/);
    });

  it('names WEIR_WEBHOOK_CA_FILE where that cannot be read', async () => {
    const weir = await startWeir({ worker: false });
    await assert.rejects(
      startProgram(weir, 'worker/worker.ts', { WEIR_WEBHOOK_CA_FILE: '/nope.pem' }),
      /WEIR_WEBHOOK_CA_FILE cannot be read: .*\/nope\.pem/,
    );
    await weir.stop();
  });
});

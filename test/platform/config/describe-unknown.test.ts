import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describeUnknown } from '../../../platform/config/describe-unknown.ts';

describe('a variable that nothing reads', () => {
  it('is named, with the one that was meant', () => {
    assert.deepEqual(describeUnknown({ WEIR_RATELIMIT_PER_KEY: '10', WEIR_SECRET_KEYS_FILE: '/keys' }), [
      'WEIR_RATELIMIT_PER_KEY is set, but Weir has no such variable. Did you mean WEIR_RATE_LIMIT_PER_KEY?',
      'WEIR_SECRET_KEYS_FILE is set, but Weir has no such variable. Did you mean WEIR_SECRETS_KEYS_FILE?',
    ]);
    assert.deepEqual(describeUnknown({ WEIR_QUOTAS: '10' }), [
      'WEIR_QUOTAS is set, but Weir has no such variable.',
    ]);
  });

  it('is none that the command names', () => {
    const folder = path.join(import.meta.dirname, '../../../cli');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const names = files.flatMap((file) =>
      [...readFileSync(path.join(folder, file), 'utf8').matchAll(/\bWEIR_[A-Z_]*[A-Z]\b/g)].map(
        ([name]) => name,
      ),
    );
    assert.ok(names.includes('WEIR_OPERATOR_KEY'));
    assert.deepEqual(describeUnknown(Object.fromEntries(names.map((name) => [name, 'x']))), []);
  });

  it('is none of the variables of others, nor an address that Kubernetes gives', () => {
    const env = {
      PATH: '/bin',
      WEIR_URL: 'http://127.0.0.1:8787',
      WEIR_API_SERVICE_HOST: '10.0.0.1',
      WEIR_API_SERVICE_PORT: '8787',
      WEIR_API_PORT: 'tcp://10.0.0.1:8787',
      WEIR_API_PORT_8787_TCP_ADDR: '10.0.0.1',
    };
    assert.deepEqual(describeUnknown(env), []);
  });
});

import assert from 'node:assert/strict';
import { readConfig } from '../config.ts';

describe('readConfig', () => {
  const env = {
    DATABASE_URL: 'postgres://127.0.0.1/weir',
    WEIR_API_KEY_PEPPER: 'a pepper of at least thirty-two characters',
  };
  const WEIR_TEST_DIAL_MAP = JSON.stringify({ 'hooks.example': '127.0.0.1:9001' });

  it('has no dial map unless one is set', () => {
    assert.equal(readConfig(env).dialMap, undefined);
    assert.deepEqual(readConfig({ ...env, WEIR_TEST_DIAL_MAP }).dialMap, {
      'hooks.example': '127.0.0.1:9001',
    });
  });

  it('refuses a dial map in production', () => {
    const production = { ...env, NODE_ENV: 'production' };
    assert.equal(readConfig(production).production, true);
    assert.throws(
      () => readConfig({ ...production, WEIR_TEST_DIAL_MAP }),
      /WEIR_TEST_DIAL_MAP: .*production/,
    );
  });

  for (const value of ['', '{', '[]', '{"hooks.example": 1}', '{"hooks.example": "127.0.0.1"}'])
    it(`refuses ${JSON.stringify(value)} as a dial map`, () =>
      assert.throws(() => readConfig({ ...env, WEIR_TEST_DIAL_MAP: value }), /WEIR_TEST_DIAL_MAP/));
});

import assert from 'node:assert/strict';
import { mintApiKey, parseApiKey, secretMatches } from '../../../api/auth/api-key.ts';

const PEPPER = 'pepper'.repeat(6);

describe('API key format', () => {
  for (const kind of ['live', 'test', 'operator'] as const)
    it(`is weir_${kind}_{8 characters}_{32 characters} and parses into its parts`, () => {
      const minted = mintApiKey(kind, PEPPER);
      assert.match(minted.plaintext, new RegExp(`^weir_${kind}_[A-Za-z0-9]{8}_[A-Za-z0-9]{32}$`));
      const parts = parseApiKey(minted.plaintext);
      assert.equal(parts?.kind, kind);
      assert.equal(parts?.keyId, minted.keyId);
      assert.equal(secretMatches(parts.secret, minted.secretHmac, PEPPER), true);
    });

  const key = `weir_live_abcdEF12_${'x'.repeat(32)}`;
  for (const text of [
    '',
    key.slice(0, -1),
    `${key}x`,
    `${key}\n`,
    ` ${key}`,
    key.replace('live', 'prod'),
    key.replace('weir', 'Weir'),
    key.replace(/.$/, '_'),
    key.replace(/.$/, 'é'),
  ])
    it(`is not that of ${JSON.stringify(text)}`, () => {
      assert.ok(parseApiKey(key));
      assert.equal(parseApiKey(text), undefined);
    });

  it('makes keys that differ', () => {
    const keys = Array.from({ length: 100 }, () => mintApiKey('live', PEPPER).plaintext);
    assert.equal(new Set(keys).size, 100);
  });
});

describe('secretMatches', () => {
  const minted = mintApiKey('live', PEPPER);
  const secret = parseApiKey(minted.plaintext)?.secret ?? '';

  it('is false for another secret, another pepper and an unknown key', () => {
    assert.equal(secretMatches(secret, minted.secretHmac, PEPPER), true);
    assert.equal(secretMatches(secret.split('').reverse().join(''), minted.secretHmac, PEPPER), false);
    assert.equal(secretMatches(secret, minted.secretHmac, `${PEPPER}x`), false);
    assert.equal(secretMatches(secret, undefined, PEPPER), false);
  });
});

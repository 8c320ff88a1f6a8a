import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findAccount, provideAccounts } from '../../../dev/identity/accounts.ts';

describe('the accounts of a local start', () => {
  const stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-accounts-'));
  after(() => rmSync(stateFolder, { recursive: true }));

  it('have new passwords after a start that ended before it printed them, and keep those that were printed', async () => {
    await provideAccounts(stateFolder);
    const { passwords, keepAccounts } = await provideAccounts(stateFolder);
    assert.equal(passwords.length, 3);
    keepAccounts();
    const next = await provideAccounts(stateFolder);
    assert.deepEqual(next.passwords, []);
    for (const [email, password] of passwords)
      assert.equal((await findAccount(next.accounts, email, password))?.email, email);
  });
});

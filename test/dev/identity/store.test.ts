import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Adapter } from 'oidc-provider';
import { createIdentityStore } from '../../../dev/identity/store.ts';

const BEGUN = 600;

describe('the records of the embedded identity provider', () => {
  let stateFolder: string;
  before(() => {
    stateFolder = mkdtempSync(path.join(tmpdir(), 'weir-records-'));
  });
  after(() => rmSync(stateFolder, { recursive: true }));

  it('keep 500 sign-ins that were begun, whatever their number, and nothing else makes room for them', async () => {
    const create = createIdentityStore(stateFolder);
    const [sessions, interactions] = ['Session', 'Interaction'].map((name) => create(name) as Adapter);
    assert.ok(sessions && interactions);
    await sessions.upsert('signed-in', { accountId: 'dev-owner' }, 3_600);
    for (let i = 0; i < BEGUN; i += 1) await interactions.upsert(String(i), { kind: 'Interaction' }, 3_600);
    assert.ok(await sessions.find('signed-in'));
    assert.equal(await interactions.find('99'), undefined);
    assert.ok(await interactions.find('100'));
    assert.ok(await interactions.find(String(BEGUN - 1)));
  });
});

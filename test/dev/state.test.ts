import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeStartLock } from '../../dev/processes/process-lock.ts';
import { openStateFolder, provideSecrets } from '../../dev/state-folder.ts';

describe('the state folder', () => {
  const parent = mkdtempSync(path.join(tmpdir(), 'weir-state-'));
  const env = { WEIR_STATE_DIR: path.join(parent, 'state') };
  after(() => rmSync(parent, { recursive: true }));

  const folder = openStateFolder(env);

  it('is closed to others', () => {
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    provideSecrets(folder);
    assert.equal(statSync(path.join(folder, 'secrets.json')).mode & 0o777, 0o600);
  });

  it('keeps its secrets', () => {
    const secrets = provideSecrets(folder);
    assert.ok(secrets.apiKeyPepper.length >= 32);
    assert.deepEqual(provideSecrets(folder), secrets);
  });

  it('says which folder cannot be used and how to name another', () => {
    const file = path.join(parent, 'file');
    writeFileSync(file, '');
    assert.throws(
      () => openStateFolder({ WEIR_STATE_DIR: path.join(file, 'state') }),
      /file\/state.*WEIR_STATE_DIR/,
    );
  });

  it('has one start at a time, and the second names the first', () => {
    const lock = takeStartLock(folder);
    lock.setUrl('http://127.0.0.1:8787');
    assert.throws(() => takeStartLock(folder), RegExp(`process ${process.pid}, http://127.0.0.1:8787`));
    lock.release();
    takeStartLock(folder).release();
  });

  it('is taken over from a start that crashed, also when its process number is in use again', () => {
    const file = path.join(folder, 'start.json');
    writeFileSync(file, JSON.stringify({ pid: process.ppid, startTime: 'another time' }));
    const lock = takeStartLock(folder);
    assert.equal(JSON.parse(readFileSync(file, 'utf8')).pid, process.pid);
    lock.release();
  });
});

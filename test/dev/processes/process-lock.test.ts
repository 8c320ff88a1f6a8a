import assert from 'node:assert/strict';
import fs, { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import { processStartTime } from '../../../dev/processes/end-process.ts';
import { takeProcessLock } from '../../../dev/processes/process-lock.ts';

const GONE = { pid: process.pid, startTime: 'another time' };
const OTHER = { pid: process.ppid, startTime: processStartTime(process.ppid) };

describe('the lock of a process', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'weir-lock-'));
    file = path.join(folder, 'lock');
  });
  afterEach(() => {
    mock.restoreAll();
    syncBuiltinESMExports();
    rmSync(folder, { recursive: true });
  });

  const write = (owner: object, to = file) => writeFileSync(to, JSON.stringify(owner));
  const read = () => JSON.parse(readFileSync(file, 'utf8'));

  it('stays with the process that took it from one that is gone, when others found that one gone too', () => {
    write(GONE);
    const readFile = fs.readFileSync;
    let isFirst = true;
    mock.method(fs, 'readFileSync', (...args: Parameters<typeof readFile>) => {
      const content = readFile(...args);
      if (args[0] === file && isFirst) {
        isFirst = false;
        write(OTHER);
      }
      return content;
    });
    syncBuiltinESMExports();
    const { taken, owner } = takeProcessLock(file);
    assert.deepEqual([taken, owner, read()], [false, OTHER, OTHER]);
  });

  it('is left to the process that is about to take it from one that is gone', () => {
    write(GONE);
    write(OTHER, `${file}.stale`);
    const { taken, owner } = takeProcessLock(file);
    assert.deepEqual([taken, owner, read()], [false, OTHER, GONE]);
  });

  it('is taken from a process that is gone, also when another died while it took it', () => {
    write(GONE);
    write(GONE, `${file}.stale`);
    assert.equal(takeProcessLock(file).taken, true);
    assert.equal(read().startTime, processStartTime(process.pid));
    assert.deepEqual(fs.readdirSync(folder), ['lock']);
  });

  it('is released by its own process alone', () => {
    const lock = takeProcessLock(file);
    write(OTHER);
    lock.release();
    assert.deepEqual(read(), OTHER);
  });
});

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beginDatabase, completeDatabase } from '../../../dev/temporal/database-file.ts';

describe('a new database file of Temporal', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weir-database-file-'));
  after(() => rmSync(folder, { recursive: true }));

  it('stays marked as unfinished while a reader keeps SQLite from writing its log into it', () => {
    const file = path.join(folder, 'temporal.db');
    beginDatabase(file);
    const [server, reader] = [new DatabaseSync(file), new DatabaseSync(file)];
    server.exec('pragma journal_mode=wal; create table a (b)');
    reader.exec('begin; select * from a');
    server.exec('insert into a values (1)');
    completeDatabase(file);
    assert.ok(existsSync(`${file}.unfinished`));
    reader.exec('commit');
    completeDatabase(file);
    assert.ok(!existsSync(`${file}.unfinished`));
    for (const database of [server, reader]) database.close();
  });
});

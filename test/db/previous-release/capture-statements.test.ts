import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const PROGRAM = `
import { connect } from './db/connect.ts';
import { takeRequests } from './db/tenants/rate-limits.ts';
const db = connect(process.env.URL, 1);
await takeRequests(db, { name: 'x', subject: crypto.randomUUID(), perMinute: 1 }, 1);
await db.destroy();`;

describe('the statements that are recorded of a release', () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'weir-captured-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await database.drop();
  });

  it('are those that files of the service send, also where the recorder is in its checkout', async () => {
    const capture = path.join(import.meta.dirname, 'capture-statements.ts');
    await promisify(execFile)(
      process.execPath,
      ['--import', capture, '--input-type=module', '--eval', PROGRAM],
      {
        cwd: ROOT,
        env: {
          ...process.env,
          URL: database.url,
          WEIR_RECORD_CHECKOUT: ROOT,
          WEIR_RECORD_FOLDER: folder,
        },
      },
    );
    const files = await readdir(folder);
    const recorded = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
    const statements = recorded.join('').trim().split('\n');
    assert.equal(statements.length, 1, recorded.join(''));
    assert.match(statements[0] ?? '', /insert into rate_limit/);
  });
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findLongLocks } from './find-long-locks.ts';

const FOLDER = path.join(import.meta.dirname, '../../db/migrations');

const REFUSED = [
  'alter table run alter column request_id type text',
  'alter table run alter column request_id set not null',
  'alter table run add column key uuid not null default gen_random_uuid()',
  'alter table run add column number bigint generated always as identity',
  'alter table run add column other uuid references flow(id)',
  'alter table run add constraint positive check (cost > 0)',
  'alter table run add foreign key (flow_id) references flow(id)',
  'alter table run add constraint once unique (key)',
  'create index run_key on run (key)',
  'create unique index run_key on run (key)',
  'alter table run drop column key',
  'drop table run',
  'drop function record_block_run',
  'alter table run rename column key to name',
  'truncate run',
  'lock table run in share mode',
  'do $$ begin lock table run; end $$',
  'update run set key = 1',
  'delete from run where key is null',
  'insert into usage (day) select day from run',
];
const ACCEPTED = [
  'create table other (id uuid primary key, run uuid references run(execution_id), check (id is not null))',
  'alter table run add column key text',
  `alter table run add column key text not null default ''`,
  'alter table run add column at timestamptz not null default now()',
  'alter table run add constraint positive check (cost > 0) not valid',
  'alter table run alter column key set default timed_id()',
  'alter table run drop constraint positive',
  'create or replace function f() returns void language plpgsql as $$ begin delete from run; drop table run; end $$',
];

describe('a migration', () => {
  for (const file of readdirSync(FOLDER))
    it(`does not stop a service in use, or says why it may: ${file}`, () => {
      assert.deepEqual(findLongLocks(readFileSync(path.join(FOLDER, file), 'utf8')), []);
    });

  for (const statement of REFUSED)
    it(`is refused when it has: ${statement}`, () => {
      assert.equal(findLongLocks(`const STATEMENTS = [\n  \`${statement}\`,\n];`).length, 1);
    });

  for (const statement of ACCEPTED)
    it(`may have: ${statement}`, () => {
      assert.deepEqual(findLongLocks(`const STATEMENTS = [\n  \`${statement}\`,\n];`), []);
    });

  it('may do anything for a reason in the line above, and with a table that it creates', () => {
    assert.deepEqual(findLongLocks('// locks: the table is small\nsql`drop table run`;'), []);
    assert.deepEqual(findLongLocks('// another remark\nsql`drop table run`;').length, 1);
    assert.deepEqual(findLongLocks('sql`create table a (b int)`;\nsql`create index c on a (b)`;'), []);
  });

  it('that does not write SQL is refused', () => {
    assert.equal(findLongLocks(`await db.schema.dropTable('run').execute();`).length, 1);
  });
});

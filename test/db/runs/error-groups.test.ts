import assert from 'node:assert/strict';
import { countRunsByHour, listErrorGroups } from '../../../db/runs/error-groups.ts';
import { listRunPage, SEARCHED_REQUEST_MAX_BYTES } from '../../../db/runs/list-runs.ts';
import { finishRun } from '../../../db/runs/runs.ts';
import type { RunError } from '../../../flow/run.ts';
import { openAccount } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

const FAILED: RunError = {
  code: 'CODE_ERROR',
  message: 'Block "A" (a): failed.',
  reason: 'error',
  step_id: 'a',
};

describe('error groups', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  /** Lets a run of a new flow fail with each of these errors; returns their groups and the project. */
  async function fail(errors: Partial<RunError>[]) {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, errors.length);
    for (const [at, error] of errors.entries())
      await finishRun(db, runs[at] as string, { status: 'failed', error: { ...FAILED, ...error } });
    const rows = await db
      .selectFrom('run')
      .select(['execution_id', 'error_group', 'project_id', 'flow_id'])
      .where('organization_id', '=', organizationId)
      .execute();
    const groupOf = new Map(rows.map((row) => [row.execution_id, row.error_group]));
    const { project_id: projectId = '', flow_id: flowId = '' } = rows[0] ?? {};
    return { runs, projectId, flowId, groups: runs.map((id) => groupOf.get(id)) };
  }
  const messages = (...texts: string[]) => fail(texts.map((message) => ({ message })));

  for (const [what, ...texts] of [
    ['numbers', 'failed after 300 ms', 'failed after 2.5 ms', 'failed after 1,200 ms'],
    ['UUIDs', 'no 01934f2a-1111-7222-8333-abcdefabcdef', 'no aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'],
    ['hexadecimal numbers and ids', 'at 0xdead01 of req_011CQz', 'at 0xbeef2 of req_9Zz'],
    ['texts in double quotes', 'no "a" in "b"', 'no "a long name" in ""'],
    ['texts in other quotes', "no 'a' in `b` of “c”", "no 'x y' in `` of “z”"],
    ['times', 'at 2030-01-31T12:00:00.123Z', 'at 2031-12-01T01:02:03Z'],
    ['iterations of loops', 'Block "A" (each#3/a): failed.', 'Block "A" (each#17/a): failed.'],
    ['text beyond the first thousand characters', `${'x'.repeat(1_000)} a`, `${'x'.repeat(1_000)} b`],
  ] as const)
    it(`are one group for messages that differ in ${what} alone`, async () => {
      const { groups } = await messages(...texts);
      assert.equal(new Set(groups).size, 1, String(groups));
      assert.match(String(groups[0]), /^[0-9a-f]{12}$/);
    });

  it('are several for other words, codes, steps and flows', async () => {
    const { groups } = await fail([
      {},
      { message: 'Block "A" (a): was refused.' },
      { code: 'MODEL_REFUSED' },
      { step_id: 'b' },
      { message: "it isn't there, and can't be" },
      { message: "it isn't here, and can't be" },
    ]);
    const other = await fail([{}]);
    assert.equal(new Set([...groups, ...other.groups]).size, 7);
  });

  it('have no cancelled runs, and none that have not failed', async () => {
    const { groups } = await fail([{ code: 'CANCELLED', message: 'The run was cancelled.' }]);
    const { runs } = await openAccount(database.db, 0, 2);
    await finishRun(database.db, runs[0] as string, { status: 'completed', result: { ref: 'a' } });
    const others = database.db.selectFrom('run').select('error_group').where('execution_id', 'in', runs);
    assert.deepEqual(
      [...groups, ...(await others.execute()).map((run) => run.error_group)],
      [null, null, null],
    );
  });

  it('exist for messages with U+0000, half a surrogate pair, or JSON in it', async () => {
    const { groups } = await messages('\0', '\ud800', '{"code":"X","step_id":"y","message":"z"}', '\\"', '');
    for (const group of groups) assert.match(String(group), /^[0-9a-f]{12}$/);
  });

  it('are listed with their number, their first and last run, and the message of the last, the most frequent first', async () => {
    const { runs, projectId } = await fail([
      { message: 'Block "A" (a): 1 failed.' },
      { code: 'MODEL_REFUSED', message: 'No.' },
      { message: 'Block "A" (a): 2 failed.' },
    ]);
    const { db } = database;
    await db
      .insertInto('block_run')
      .values({
        ...{
          execution_id: runs[2] as string,
          block_key: 'a',
          step_id: 'a',
          name: 'Ask',
          processor_type: 'code',
        },
        ...{ status: 'failed', input: '{}', attempts: 1, latency_ms: 1 },
        ...{ started_at: new Date(), finished_at: new Date() },
      })
      .execute();
    for (const [hour, id] of runs.entries())
      await db
        .updateTable('run')
        .set({ started_at: new Date(Date.UTC(2026, 0, 31, hour)) })
        .where('execution_id', '=', id)
        .execute();
    const list = (filter: object) => listErrorGroups(db, { projectId, limit: 10, ...filter });
    const [failed, refused, ...others] = await list({});
    assert.ok(failed && refused);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [failed.runs, failed.execution_id, failed.block, failed.error.message],
      [2, runs[2], 'Ask', 'Block "A" (a): 2 failed.'],
    );
    assert.deepEqual([refused.runs, refused.execution_id, refused.block], [1, runs[1], null]);
    assert.deepEqual([failed.first_started_at.getUTCHours(), failed.last_started_at.getUTCHours()], [0, 2]);
    const found = async (filter: object) => (await list(filter)).map(({ runs }) => runs);
    assert.deepEqual(await found({ outcome: 'refused' }), [1]);
    assert.deepEqual(await found({ outcome: 'cancelled' }), []);
    assert.deepEqual(await found({ error_group: failed.error_group }), [2]);
    assert.deepEqual(await found({ since: failed.last_started_at }), [1]);
    assert.deepEqual(await found({ until: failed.last_started_at }), [1, 1]);
    assert.deepEqual(await found({ version: 1, mode: 'jobs', environment: 'live' }), [2, 1]);
    assert.deepEqual(await found({ version: 2 }), []);
    assert.deepEqual(await found({ environment: 'test' }), []);
    assert.deepEqual(await found({ key: 'unknown0' }), []);
    assert.deepEqual(await found({ flow: 'other' }), []);
  });

  it('filter a list of runs, also together with a version and a key', async () => {
    const { runs, projectId, groups } = await fail([
      {},
      { code: 'MODEL_REFUSED' },
      { message: 'Block "B" (a): failed.' },
    ]);
    const errorGroup = groups[0] as string;
    const found = async (filter: object) => {
      const { runs, next } = await listRunPage(database.db, {
        projectId,
        error_group: errorGroup,
        limit: 10,
        ...filter,
      });
      assert.equal(next, null);
      return runs.map((run) => run.execution_id);
    };
    const expected = [runs[2], runs[0]];
    for (const filter of [{}, { version: 1 }, { mode: 'jobs' }, { status: 'failed' }, { outcome: 'failed' }])
      assert.deepEqual(await found(filter), expected, JSON.stringify(filter));
    for (const filter of [
      { version: 2 },
      { mode: 'step' },
      { status: 'completed' },
      { outcome: 'refused' },
      { key: 'k' },
    ])
      assert.deepEqual(await found(filter), [], JSON.stringify(filter));
    await database.db
      .updateTable('run')
      .set({ key_id: 'k' })
      .where('execution_id', '=', runs[0] as string)
      .execute();
    assert.deepEqual(await found({ key: 'k' }), [runs[0]]);
    assert.deepEqual(await found({ key: 'k', version: 1 }), [runs[0]]);
    assert.deepEqual(await found({ id: runs[1] }), []);
    assert.deepEqual(await found({ error_group: 'other' }), []);
  });

  it('are counted by the hour in which the runs started, beside runs that ended otherwise', async () => {
    const { runs, projectId, groups } = await fail([
      {},
      {},
      { code: 'MODEL_REFUSED' },
      { code: 'CANCELLED' },
    ]);
    const [first = '', second = '', third = '', fourth = ''] = runs;
    const at = { [first]: '10:00', [second]: '10:59', [third]: '11:00', [fourth]: '09:59' };
    const day = (time: string) => new Date(`2026-01-31T${time}:00Z`);
    for (const [id, time] of Object.entries(at))
      await database.db
        .updateTable('run')
        .set({ started_at: day(time) })
        .where('execution_id', '=', id)
        .execute();
    const count = async (filter: object = {}) =>
      (
        await countRunsByHour(database.db, { projectId, since: day('09:00'), until: day('12:00'), ...filter })
      ).map(({ hour, ...counts }) => [hour.toISOString().slice(11, 16), counts]);
    const none = { completed: 0, failed: 0, cancelled: 0, refused: 0, open: 0 };
    const [nine, ten, eleven] = [
      ['09:00', { ...none, cancelled: 1 }],
      ['10:00', { ...none, failed: 2 }],
      ['11:00', { ...none, refused: 1 }],
    ];
    assert.deepEqual(await count(), [nine, ten, eleven]);
    assert.deepEqual(await count({ until: day('11:00') }), [nine, ten]);
    assert.deepEqual(await count({ since: day('10:30') }), [['10:00', { ...none, failed: 1 }], eleven]);
    assert.deepEqual(await count({ outcome: 'refused' }), [eleven]);
    assert.deepEqual(await count({ error_group: groups[0] }), [ten]);
    assert.deepEqual(await count({ flow: 'other' }), []);
    assert.deepEqual(await count({ version: 1, environment: 'live' }), [nine, ten, eleven]);
  });
});

describe('a search of runs', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('finds a text in the message or error of a run, in any case, and no text of other fields', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 4);
    const [asked = '', failed = '', large = '', odd = ''] = runs;
    const set = (id: string, message: string) =>
      db
        .updateTable('run')
        .set({ input: JSON.stringify({ message, parameters: { city: 'Paris' }, block_overrides: {} }) })
        .where('execution_id', '=', id)
        .execute();
    await set(asked, 'Where is the “Größe” of 100 %?\nA_b');
    await finishRun(db, failed, { status: 'failed', error: { ...FAILED, message: 'The key was REJECTED.' } });
    await set(
      large,
      `large ${Array.from({ length: SEARCHED_REQUEST_MAX_BYTES }, () => Math.random().toString(36).slice(2)).join('')}`,
    );
    await set(odd, '\0 odd \ud800');
    const found = async (search: string) => {
      const { runs, next } = await listRunPage(db, { organizationId, search, limit: 10 });
      assert.equal(next, null);
      return runs.map((run) => run.execution_id);
    };
    for (const text of ['where is', 'GRÖßE', '100 %?', 'a_b', '”'])
      assert.deepEqual(await found(text), [asked], text);
    for (const text of ['rejected', FAILED.code.toLowerCase()])
      assert.deepEqual(await found(text), [failed], text);
    assert.deepEqual(await found(' odd '), [odd]);
    for (const text of ['Paris', 'parameters', 'message', '100_%', 'large'])
      assert.deepEqual(await found(text), [], text);
  });

  it('finds the runs with these characters anywhere in their ids, and then no others', async () => {
    const { db } = database;
    const { organizationId, runs } = await openAccount(db, 0, 3);
    const [run = '', other = ''] = runs;
    await db
      .updateTable('run')
      .set({ input: JSON.stringify({ message: `like ${run} or deadbeef-f00d` }) })
      .where('execution_id', '=', other)
      .execute();
    const found = async (search: string, filter: object = {}) =>
      (await listRunPage(db, { organizationId, search, limit: 10, ...filter })).runs.map(
        (each) => each.execution_id,
      );
    for (const part of [run, run.toUpperCase(), run.slice(-8), run.slice(0, 9), run.slice(5, 20)])
      assert.deepEqual(await found(part), [run], part);
    assert.deepEqual(await found('deadbeef-f00d'), [other]);
    assert.deepEqual(await found(run, { after: run }), []);
    assert.deepEqual(await found(run, { status: 'failed' }), []);
    assert.deepEqual(await found(run, { mode: 'jobs', id: run.slice(0, 6) }), [run]);
    assert.deepEqual((await found(run.slice(-7))).includes(run), true);
    const { runs: foreign } = await openAccount(db, 0, 1);
    assert.deepEqual(await found(foreign[0] as string), []);
  });
});

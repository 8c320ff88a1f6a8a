import assert from 'node:assert/strict';
import { createUpdates } from '../../../api/runs/updates.ts';
import type { Db } from '../../../db/connect.ts';
import { currentLogContext, withLogContext } from '../../../platform/observability/log.ts';
import { openAccount } from '../../db/credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';

const HOUR_MS = 3_600_000;
const OF = { organizationId: 'a' };

describe('updates of the runs that streams follow', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const never = new AbortController().signal;
  const end = (db: Db, executionId: string) =>
    db.updateTable('run').set({ status: 'completed' }).where('execution_id', '=', executionId).execute();

  it('take one query for all streams, and wake only those of the run', async () => {
    let looks = 0;
    const db = watchStatements(database.db, () => {
      looks += 1;
    });
    const { runs } = await openAccount(database.db, 0, 2);
    const [quiet = '', busy = ''] = runs;
    await end(database.db, busy);
    const updates = createUpdates(db);
    const left = new AbortController();
    const others = Array.from({ length: 100 }, () =>
      updates.wait({ ...OF, executionId: quiet, after: 0n }, HOUR_MS, left.signal),
    );
    assert.equal(await updates.wait({ ...OF, executionId: busy, after: 0n }, HOUR_MS, never), true);
    assert.equal(looks, 1);
    left.abort();
    assert.deepEqual(new Set(await Promise.all(others)), new Set([false]));
  });

  it('ask once for all streams that are equally far', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [executionId = ''] = runs;
    let asked: readonly unknown[] = [];
    const db = watchStatements(database.db, (node) => {
      if (node.kind === 'RawNode')
        [asked = []] = node.parameters.map((one) => ('value' in one ? (one.value as unknown[]) : []));
    });
    const updates = createUpdates(db);
    await end(database.db, executionId);
    const streams = [0n, 0n, 0n, 1n].map((after) =>
      updates.wait({ ...OF, executionId, after }, HOUR_MS, never),
    );
    assert.deepEqual(await Promise.all(streams), [true, true, true, true]);
    assert.deepEqual(asked, [executionId, executionId]);
  });

  it('ask about some runs of an organization at a time where they are much to read, and about all of others', async () => {
    const { runs } = await openAccount(database.db, 0, 3);
    const [one = '', two = '', small = ''] = runs;
    const looks: unknown[][] = [];
    const db = watchStatements(database.db, (node) => {
      if (node.kind === 'RawNode')
        looks.push(node.parameters.map((one) => ('value' in one ? one.value : []))[0] as unknown[]);
      if (looks.length === 4) thrice.resolve();
    });
    const thrice = Promise.withResolvers<void>();
    const updates = createUpdates(db);
    const left = new AbortController();
    const large = { ...OF, after: 0n, known: 10_000 };
    const followed = [
      { ...large, executionId: one },
      { ...large, executionId: two },
      { organizationId: 'b', after: 0n, executionId: small },
    ];
    const waits = followed.map((run) => updates.wait(run, HOUR_MS, left.signal));
    await thrice.promise;
    left.abort();
    await Promise.all(waits);
    assert.deepEqual(looks.slice(0, 4), [
      [one, small],
      [two, small],
      [one, small],
      [two, small],
    ]);
  });

  it('are looked for on behalf of nobody, so that no organization’s backlog holds up others’ streams', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [executionId = ''] = runs;
    const contexts: unknown[] = [];
    const db = watchStatements(database.db, () => {
      contexts.push(currentLogContext());
    });
    await end(database.db, executionId);
    const updates = createUpdates(db);
    await withLogContext({ organization_id: 'a' }, () =>
      updates.wait({ ...OF, executionId, after: 0n }, HOUR_MS, never),
    );
    assert.deepEqual(contexts, [undefined]);
  });

  it('are read once for all who ask for the same at a time', async () => {
    const updates = createUpdates(database.db);
    let reads = 0;
    const read = async () => (reads += 1);
    const both = [updates.share('a', read), updates.share('a', read), updates.share('b', read)];
    assert.deepEqual(await Promise.all(both), [1, 1, 2]);
    assert.equal(await updates.share('a', read), 3);
  });

  it('are given up after the time for which their stream waits', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [executionId = ''] = runs;
    assert.equal(await createUpdates(database.db).wait({ ...OF, executionId, after: 0n }, 1, never), false);
  });

  it('are given up without a warning of Node when no time is left', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [executionId = ''] = runs;
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    assert.equal(
      await createUpdates(database.db).wait({ ...OF, executionId, after: 0n }, -0.03, never),
      false,
    );
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  it('fail their stream when the database does, and are looked for again', async () => {
    const { runs } = await openAccount(database.db, 0, 1);
    const [executionId = ''] = runs;
    let away = true;
    const db = watchStatements(database.db, () => {
      if (away) throw new Error('away');
    });
    const updates = createUpdates(db);
    await assert.rejects(updates.wait({ ...OF, executionId, after: 0n }, HOUR_MS, never), /away/);
    away = false;
    await end(database.db, executionId);
    assert.equal(await updates.wait({ ...OF, executionId, after: 0n }, HOUR_MS, never), true);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { sql } from 'kysely';
import { createRequestLeases, type QuotaState } from '../../../api/auth/request-leases.ts';
import type { Db } from '../../../db/connect.ts';
import { COUNT_AT_LEISURE } from '../../count-at-leisure.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';
import { waitUntil } from '../../wait-until.ts';

const PER_MINUTE = 10_000;
const LEASE = 10;
const TIMEOUT_MS = 60_000;

describe('leases of requests', () => {
  let database: TestDatabase;
  let now: number;
  before(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    now = performance.now();
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.restoreAll();
  });
  after(() => database.drop());

  const leasesOn = (db: Db) => createRequestLeases(db, COUNT_AT_LEISURE.countTimeoutMs);
  const quotaOf = (perMinute = PER_MINUTE) => ({ name: 'test', subject: randomUUID(), perMinute });
  async function fullAt({ subject }: { subject: string }): Promise<number> {
    const row = await database.db
      .selectFrom('rate_limit')
      .select('full_at')
      .where('subject', '=', subject)
      .executeTakeFirstOrThrow();
    return row.full_at.getTime();
  }
  const remaining = ({ remaining }: { remaining: number }) => remaining;

  it('hold a thousandth of the quota: the database is asked once for that many requests', async () => {
    const leases = leasesOn(database.db);
    const quota = quotaOf();
    const first = await leases.take(quota);
    const asked = await fullAt(quota);
    for (let taken = 1; taken < LEASE; taken += 1) await leases.take(quota);
    assert.equal(await fullAt(quota), asked);
    const next = await leases.take(quota);
    assert((await fullAt(quota)) > asked);
    assert(first.allowed && next.allowed);
  });

  it('show one request less after each', async () => {
    const leases = leasesOn(database.db);
    const quota = quotaOf();
    const shown: number[] = [];
    for (let taken = 0; taken < LEASE; taken += 1) shown.push(remaining(await leases.take(quota)));
    assert.deepEqual(
      shown,
      Array.from({ length: LEASE }, (_, index) => PER_MINUTE - 1 - index),
    );
  });

  it('take no more than is waited for: what another process could use is not kept', async () => {
    const [here, there] = [leasesOn(database.db), leasesOn(database.db)];
    const quota = quotaOf(4);
    await Promise.all(Array.from({ length: 3 }, () => here.take(quota)));
    assert((await there.take(quota)).allowed);
  });

  it('are one request where the limit is small', async () => {
    const [here, there] = [leasesOn(database.db), leasesOn(database.db)];
    const quota = quotaOf(4);
    const taken = await Promise.all(
      [here, there, here, there, here, there].map((leases) => leases.take(quota)),
    );
    assert.equal(taken.filter(({ allowed }) => allowed).length, 4);
  });

  it('are given up once all of the quota is there again, so that nobody has more than that', async () => {
    const leases = leasesOn(database.db);
    const quota = quotaOf();
    await leases.take(quota);
    await sql`update rate_limit set full_at = now() where subject = ${quota.subject}`.execute(database.db);
    now += 60_000;
    assert.equal(remaining(await leases.take(quota)), PER_MINUTE - 1);
  });

  it('are topped up in one statement for all who wait meanwhile', async () => {
    let statements = 0;
    const counted = watchStatements(database.db, () => {
      statements += 1;
    });
    const leases = leasesOn(counted);
    const quota = quotaOf(1_000);
    const states = await Promise.all(Array.from({ length: 50 }, () => leases.take(quota)));
    assert(states.every(({ allowed }) => allowed));
    assert.equal(statements, 2);
  });

  describe('while the database cannot count', () => {
    let isAway: boolean;
    let away: Db;
    beforeEach(() => {
      isAway = false;
      away = watchStatements(database.db, () => {
        if (isAway) throw new Error('away');
      });
    });
    const counts = ({ allowed, remaining, retrySeconds }: QuotaState) => ({
      allowed,
      remaining,
      retrySeconds,
    });

    it('go on from its last answer, and give back one request after each step', async () => {
      const leases = leasesOn(away);
      const quota = quotaOf(4);
      await leases.take(quota);
      isAway = true;
      for (let taken = 1; taken < 4; taken += 1) assert((await leases.take(quota)).allowed);
      assert.deepEqual(counts(await leases.take(quota)), { allowed: false, remaining: 0, retrySeconds: 15 });
      now += 15_000;
      assert.deepEqual(counts(await leases.take(quota)), { allowed: true, remaining: 0, retrySeconds: 15 });
      assert(!(await leases.take(quota)).allowed);
    });

    it('take from the quota afterwards what was used, and nothing that is available again by then', async () => {
      const [here, there] = [leasesOn(away), leasesOn(database.db)];
      const quota = quotaOf(4);
      await here.take(quota);
      isAway = true;
      for (let taken = 1; taken < 4; taken += 1) await here.take(quota);
      await sql`update rate_limit set full_at = full_at - interval '30 s' where subject = ${quota.subject}`.execute(
        database.db,
      );
      now += 30_000;
      isAway = false;
      assert.equal(remaining(await here.take(quota)), 1);
      assert.equal(remaining(await there.take(quota)), 0);
    });

    it('take nothing twice from a database that answers late, and wait for it once', async () => {
      let answered: Promise<void> | undefined;
      const late = database.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => answered?.then(() => result) ?? result,
      });
      const leases = createRequestLeases(late, TIMEOUT_MS);
      const quota = quotaOf(4);
      await leases.take(quota);
      const full = await fullAt(quota);
      const answer = Promise.withResolvers<void>();
      answered = answer.promise;
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        const second = leases.take(quota);
        mock.timers.tick(TIMEOUT_MS);
        assert.equal(remaining(await second), 2);
        assert.equal(remaining(await leases.take(quota)), 1);
      } finally {
        mock.timers.reset();
      }
      answered = undefined;
      answer.resolve();
      assert.deepEqual(counts(await leases.take(quota)), { allowed: true, remaining: 0, retrySeconds: 15 });
      assert(!(await leases.take(quota)).allowed);
      await waitUntil(async () => {
        assert(!(await leases.take(quota)).allowed);
        return (await fullAt(quota)) - full === 3 * 15_000;
      });
    });
  });
});

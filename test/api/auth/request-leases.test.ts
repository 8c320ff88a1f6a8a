import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mock } from 'node:test';
import { sql } from 'kysely';
import { createRequestLeases } from '../../../api/auth/request-leases.ts';
import type { Db } from '../../../db/connect.ts';
import { COUNT_AT_LEISURE } from '../../count-at-leisure.ts';
import { createTestDatabase, type TestDatabase } from '../../db/test-database.ts';
import { watchStatements } from '../../db/watch-statements.ts';

const PER_MINUTE = 10_000;
const LEASE = 10;

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
});

import assert from 'node:assert/strict';
import { grantCredits } from '../../../db/credits/ledger.ts';
import { MICROCREDITS_PER_CREDIT } from '../../../flow/credit-amount.ts';
import { createProject, MISSING } from '../project-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';

describe('credits', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are granted once per key, also when the grant is repeated at once', async () => {
    const { organization } = await createProject(database.db);
    const grants = await Promise.all(
      Array.from({ length: 8 }, () =>
        grantCredits(database.db, organization.id, 5 * MICROCREDITS_PER_CREDIT, 'grant/1'),
      ),
    );
    assert.equal(grants.filter((grant) => grant.granted).length, 1);
    for (const grant of grants) assert.equal(grant.balanceMicrocredits, 5_000_000);
    const again = await grantCredits(database.db, organization.id, 1, 'grant/2');
    assert.deepEqual(again, { granted: true, microcredits: 1, balanceMicrocredits: 5_000_001 });
    const other = await grantCredits(database.db, organization.id, 7, 'grant/2');
    assert.deepEqual(other, { granted: false, microcredits: 1, balanceMicrocredits: 5_000_001 });
  });

  it('are refused when the amount is not positive, whole and exact', async () => {
    const { organization } = await createProject(database.db);
    for (const amount of [0, -1, 0.5, Number.NaN, 2 ** 53])
      await assert.rejects(grantCredits(database.db, organization.id, amount, 'grant/1'), {
        code: 'VALIDATION_ERROR',
      });
    await assert.rejects(grantCredits(database.db, MISSING, 1, 'grant/1'), { code: 'NOT_FOUND' });
  });
});

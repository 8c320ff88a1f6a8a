// Test cases of flows; their names are unique in a flow.
import { sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import { type Expectation, TEST_CASES_MAX, type TestInput } from '../../flow/test-case.ts';
import type { Db, Tx } from '../connect.ts';

const COLUMNS = ['id', 'flow_id', 'name', 'input', 'expectation', 'created_at', 'updated_at'] as const;

type SavedTestCase = { flowId: string; name: string; input: TestInput; expectation: Expectation };

/**
 * Creates a case, or replaces the flow's case of that name (then `created` is false). Throws CONFLICT when the flow has
 * as many cases as it may have; the caller has locked the flow, which keeps the count exact.
 */
export async function saveTestCase(
  tx: Tx,
  testCase: SavedTestCase,
): Promise<{ id: string; created: boolean }> {
  const { flowId, name } = testCase;
  const { others } = await tx
    .selectFrom('test_case')
    .select((eb) => eb.fn.countAll<number>().as('others'))
    .where('flow_id', '=', flowId)
    .where('name', '<>', name)
    .executeTakeFirstOrThrow();
  if (others >= TEST_CASES_MAX) throw tooManyTestCases();
  return tx
    .insertInto('test_case')
    .values({
      flow_id: flowId,
      name,
      input: JSON.stringify(testCase.input),
      expectation: JSON.stringify(testCase.expectation),
    })
    .onConflict((conflict) =>
      conflict.constraint('test_case_name_key').doUpdateSet((eb) => ({
        input: eb.ref('excluded.input'),
        expectation: eb.ref('excluded.expectation'),
        updated_at: sql`now()`,
      })),
    )
    .returning(['id', sql<boolean>`xmax = 0`.as('created')])
    .executeTakeFirstOrThrow();
}

export function tooManyTestCases(): ServiceError {
  return new ServiceError(
    'CONFLICT',
    `A flow can have at most ${TEST_CASES_MAX} test cases: delete one, or give this one the name of the case it replaces.`,
  );
}

/**
 * Replaces a case of a flow, name and all; answers whether there is one. Throws CONFLICT when another case has the name. The
 * caller has locked the flow.
 */
export async function updateTestCase(tx: Tx, id: string, testCase: SavedTestCase): Promise<boolean> {
  const { flowId, name, input, expectation } = testCase;
  const other = await tx
    .selectFrom('test_case')
    .select('id')
    .where('flow_id', '=', flowId)
    .where('name', '=', name)
    .where('id', '<>', id)
    .executeTakeFirst();
  if (other) throw testCaseNameTaken(name);
  const { numUpdatedRows } = await tx
    .updateTable('test_case')
    .set({
      name,
      input: JSON.stringify(input),
      expectation: JSON.stringify(expectation),
      updated_at: sql`now()`,
    })
    .where('id', '=', id)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function testCaseNameTaken(name: string): ServiceError {
  return new ServiceError('CONFLICT', `The flow has another test case with the name ${name}.`);
}

/** Lists the cases of a flow by name, from the one after the name `after`, without their values. */
export function listTestCasePage(db: Db, flowId: string, { after, limit }: { after: string; limit: number }) {
  return db
    .selectFrom('test_case')
    .select(['id', 'name', 'created_at', 'updated_at', 'last_execution_id'])
    .where('flow_id', '=', flowId)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Lists the cases of a flow, in the order they were created. */
export function listTestCases(db: Db | Tx, flowId: string) {
  return db
    .selectFrom('test_case')
    .select(COLUMNS)
    .where('flow_id', '=', flowId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}
export type TestCaseRow = Awaited<ReturnType<typeof listTestCases>>[number];

/** Finds a case of any flow: the caller checks whether it may be seen. */
export function findTestCase(db: Db | Tx, id: string): Promise<TestCaseRow | undefined> {
  return db.selectFrom('test_case').select(COLUMNS).where('id', '=', id).executeTakeFirst();
}

/** Finds the case of a flow that has a name. */
export function findTestCaseByName(tx: Tx, flowId: string, name: string): Promise<TestCaseRow | undefined> {
  return tx
    .selectFrom('test_case')
    .select(COLUMNS)
    .where('flow_id', '=', flowId)
    .where('name', '=', name)
    .executeTakeFirst();
}

/** Deletes a case; the results of its runs stay. Answers whether there was one. */
export async function deleteTestCaseRow(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('test_case').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

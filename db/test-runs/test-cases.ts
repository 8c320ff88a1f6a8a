// Test cases of flows; their names are unique in a flow.
import { type RawBuilder, sql } from 'kysely';
import { ServiceError } from '../../flow/errors.ts';
import {
  type Expectation,
  TEST_CASES_MAX,
  TEST_CASES_MAX_BYTES,
  type TestInput,
} from '../../flow/test-case.ts';
import type { Db, Tx } from '../connect.ts';

const COLUMNS = ['id', 'flow_id', 'name', 'input', 'expectation', 'created_at', 'updated_at'] as const;

const BYTES = sql<number>`(octet_length(input::text) + octet_length(expectation::text))`;

type SavedTestCase = { flowId: string; name: string; input: TestInput; expectation: Expectation };

/**
 * Creates a case, or replaces the flow's case of that name (then `created` is false). Throws CONFLICT at the maximum
 * number or size of a flow's cases. The caller has locked the flow, which keeps the count exact.
 */
export async function saveTestCase(
  tx: Tx,
  testCase: SavedTestCase,
): Promise<{ id: string; created: boolean }> {
  const { flowId, name } = testCase;
  const texts = toTexts(testCase);
  const cases = await measureCases(tx, flowId, sql`name = ${name}`);
  if (cases.others >= TEST_CASES_MAX) throw tooManyTestCases();
  requireRoom(cases, texts);
  return tx
    .insertInto('test_case')
    .values({ flow_id: flowId, name, ...texts })
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

function toTexts({ input, expectation }: SavedTestCase) {
  return { input: JSON.stringify(input), expectation: JSON.stringify(expectation) };
}

/**
 * Counts and measures the cases of a flow, except the replaced case. Also measures the replaced case; null without a
 * replaced case.
 */
function measureCases(tx: Tx, flowId: string, isReplaced: RawBuilder<unknown>) {
  return tx
    .selectFrom('test_case')
    .select([
      sql<number>`count(*) filter (where not ${isReplaced})`.as('others'),
      sql<number>`coalesce(sum(${BYTES}) filter (where not ${isReplaced}), 0)::bigint`.as('bytes'),
      sql<number | null>`(sum(${BYTES}) filter (where ${isReplaced}))::bigint`.as('replaced'),
    ])
    .where('flow_id', '=', flowId)
    .executeTakeFirstOrThrow();
}

function requireRoom(
  { bytes }: Awaited<ReturnType<typeof measureCases>>,
  { input, expectation }: ReturnType<typeof toTexts>,
): void {
  const added = Buffer.byteLength(input) + Buffer.byteLength(expectation);
  if (bytes + added > TEST_CASES_MAX_BYTES) throw tooLargeTestCases();
}

function tooLargeTestCases(): ServiceError {
  const most = TEST_CASES_MAX_BYTES / 1024 / 1024;
  return new ServiceError(
    'CONFLICT',
    `The test cases of a flow can have at most ${most} MiB of JSON together: delete one, or make this one smaller.`,
  );
}

/**
 * Replaces a case of a flow, including its name; returns whether it exists. Throws CONFLICT when another case has the
 * name, or the cases of the flow would be too large together. The caller has locked the flow.
 */
export async function updateTestCase(tx: Tx, id: string, testCase: SavedTestCase): Promise<boolean> {
  const { flowId, name } = testCase;
  const other = await tx
    .selectFrom('test_case')
    .select('id')
    .where('flow_id', '=', flowId)
    .where('name', '=', name)
    .where('id', '<>', id)
    .executeTakeFirst();
  if (other) throw testCaseNameTaken(name);
  const texts = toTexts(testCase);
  const cases = await measureCases(tx, flowId, sql`id = ${id}`);
  if (cases.replaced === null) return false;
  requireRoom(cases, texts);
  const { numUpdatedRows } = await tx
    .updateTable('test_case')
    .set({ name, ...texts, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('flow_id', '=', flowId)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function testCaseNameTaken(name: string): ServiceError {
  return new ServiceError('CONFLICT', `The flow has another test case with the name ${name}.`);
}

/** Lists the cases of a flow by name, starting after the name `after`, with the first characters of their values. */
export function listTestCasePage(
  db: Db,
  flowId: string,
  { after, limit, maxChars }: { after: string; limit: number; maxChars: number },
) {
  return db
    .selectFrom('test_case')
    .select(['id', 'name', 'created_at', 'updated_at', 'last_execution_id'])
    .select([
      sql<string>`left(input ->> 'message', ${maxChars})`.as('message'),
      sql<string>`left(expectation::text, ${maxChars})`.as('expected'),
      sql<boolean>`input -> 'tools' is not null`.as('has_tools'),
    ])
    .where('flow_id', '=', flowId)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute();
}

/** Lists the cases of a flow in the order they were created, with the sizes of their values in bytes. */
export function listTestCases(db: Db | Tx, flowId: string): Promise<{ id: string; bytes: number }[]> {
  return db
    .selectFrom('test_case')
    .select(['id', BYTES.as('bytes')])
    .where('flow_id', '=', flowId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Loads cases with their values, in the order they were created. */
export function loadTestCases(db: Db | Tx, ids: string[]) {
  return db
    .selectFrom('test_case')
    .select(COLUMNS)
    .where('id', '=', sql<string>`any(${ids}::uuid[])`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}
export type TestCaseRow = Awaited<ReturnType<typeof loadTestCases>>[number];

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

/** Deletes a case; the results of its runs stay. Returns whether there was one. */
export async function deleteTestCaseRow(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('test_case').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

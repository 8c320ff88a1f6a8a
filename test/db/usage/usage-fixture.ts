// An organization whose runs end and are counted.
import { randomUUID } from 'node:crypto';
import { insertCalls, type NewCall } from '../../../db/runs/insert-calls.ts';
import { findUsage } from '../../../db/usage/find-usage.ts';
import type { UsageDimension } from '../../../db/usage/usage-dimensions.ts';
import { type Account, openAccount, settle } from '../credits/ledger-fixture.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { auditUsage } from './audit-usage.ts';

export const COMPLETED = { status: 'completed', result: { ref: '$message' } } as const;

/** Registers the hooks of the enclosing `describe`: each test gets an organization with a published flow. */
export function useUsage() {
  const fixture = {} as { database: TestDatabase; account: Account };
  before(async () => {
    fixture.database = await createTestDatabase();
  });
  beforeEach(async () => {
    fixture.account = await openAccount(fixture.database.db, 1_000_000, 0);
  });
  after(() => fixture.database.drop());

  const day = () => new Date().toISOString().slice(0, 10);
  /** Two days, because midnight may pass. */
  const filter = () => ({
    organizationId: fixture.account.organizationId,
    from: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
    to: day(),
  });
  const find = (by: UsageDimension) =>
    findUsage(fixture.database.db, filter(), { by, offset: 0, limit: 100 });
  const total = async () => (await find('day')).total;
  const by = async (dimension: UsageDimension) => (await find(dimension)).rows;

  async function accept(more: Partial<NewCall> = {}): Promise<string> {
    const { db } = fixture.database;
    const { projectId, flowId, flowVersionId } = await db
      .selectFrom('flow_version')
      .innerJoin('flow', 'flow.id', 'flow_version.flow_id')
      .innerJoin('project', 'project.id', 'flow.project_id')
      .select(['project.id as projectId', 'flow.id as flowId', 'flow_version.id as flowVersionId'])
      .where('project.organization_id', '=', fixture.account.organizationId)
      .executeTakeFirstOrThrow();
    const callId = randomUUID();
    await insertCalls(db, [
      {
        callId,
        organizationId: fixture.account.organizationId,
        ...{ projectId, flowId, flowVersionId, mode: 'jobs', environment: 'live' },
        input: { message: '', parameters: {}, block_overrides: {} },
        ...more,
      },
    ]);
    return callId;
  }
  const charge = (callId: string, blockKey: string, costMicrocredits: number, more = {}) =>
    settle(fixture.database.db, fixture.account, {
      ...{ callId, blockKey, costMicrocredits, model: 'demo/chat', promptTokens: 10, completionTokens: 2 },
      ...more,
    } as never);
  const count = () => auditUsage(fixture.database.db, fixture.account.organizationId);
  return { fixture, filter, total, by, accept, charge, count };
}

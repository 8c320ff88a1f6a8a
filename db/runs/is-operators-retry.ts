import type { Db } from '../connect.ts';

/** Whether `weir operator runs retry` has stored a call, which workers then start. */
export async function isOperatorsRetry(db: Db, callId: string): Promise<boolean> {
  const row = await db
    .selectFrom('run')
    .innerJoin('audit_entry', (join) =>
      join
        .onRef('audit_entry.organization_id', '=', 'run.organization_id')
        .onRef('audit_entry.request_id', '=', 'run.request_id'),
    )
    .select('run.execution_id')
    .where('run.execution_id', '=', callId)
    .where('run.repeats', 'is not', null)
    .where('audit_entry.actor', '=', 'operator')
    .where('audit_entry.action', '=', 'runs.retry')
    .executeTakeFirst();
  return row !== undefined;
}

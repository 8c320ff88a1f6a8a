import type { Tx } from '../connect.ts';
import { type FlowRow, findFlowBySlug } from './flows.ts';

/** Finds a flow and locks it until the transaction ends. */
export async function lockFlowBySlug(tx: Tx, projectId: string, slug: string): Promise<FlowRow | undefined> {
  await tx
    .selectFrom('flow')
    .select('id')
    .where('project_id', '=', projectId)
    .where('slug', '=', slug)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .execute();
  return findFlowBySlug(tx, projectId, slug);
}

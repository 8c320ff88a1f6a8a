import { createHash } from 'node:crypto';
import type { FlowDefinition } from '../../flow/definition.ts';
import type { Db } from '../connect.ts';

/** Stores a draft as it is, once per content, for test runs to refer to. Returns its flow_version_id. */
export async function snapshotDraft(db: Db, flowId: string, draft: FlowDefinition): Promise<string> {
  const definition = JSON.stringify(draft);
  const digest = createHash('sha256').update(definition).digest();
  const inserted = await db
    .insertInto('flow_version')
    .values({ flow_id: flowId, version: null, note: '', definition, digest })
    .onConflict((conflict) =>
      conflict.columns(['flow_id', 'digest']).where('version', 'is', null).doNothing(),
    )
    .returning('id')
    .executeTakeFirst();
  if (inserted) return inserted.id;
  const { id } = await db
    .selectFrom('flow_version')
    .select('id')
    .where('flow_id', '=', flowId)
    .where('version', 'is', null)
    .where('digest', '=', digest)
    .executeTakeFirstOrThrow();
  return id;
}

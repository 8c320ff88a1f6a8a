import { createHash } from 'node:crypto';
import type { FlowDefinition } from '../../flow/definition.ts';
import { listBlocks } from '../../flow/plan.ts';
import type { Db, Tx } from '../connect.ts';

/**
 * Stores the present draft, once per content, for runs and test runs to refer to. Returns its flow_version_id. In a
 * transaction, the snapshot is not deleted before the end.
 */
export async function snapshotDraft(db: Db | Tx, flowId: string, draft: FlowDefinition): Promise<string> {
  const { definition, digest } = digestDraft(draft);
  for (;;) {
    const inserted = await db
      .insertInto('flow_version')
      .values({
        flow_id: flowId,
        version: null,
        note: '',
        definition,
        digest,
        block_count: listBlocks(draft).length,
      })
      .onConflict((conflict) =>
        conflict.columns(['flow_id', 'digest']).where('version', 'is', null).doNothing(),
      )
      .returning('id')
      .executeTakeFirst();
    // An existing snapshot may be deleted before it is found.
    const snapshot = inserted ?? (await selectSnapshot(db, flowId, digest).forKeyShare().executeTakeFirst());
    if (snapshot) return snapshot.id;
  }
}

/** Finds the snapshot of the present draft. Returns its flow_version_id; undefined when none was stored. */
export async function findSnapshot(
  db: Db,
  flowId: string,
  draft: FlowDefinition,
): Promise<string | undefined> {
  return (await selectSnapshot(db, flowId, digestDraft(draft).digest).executeTakeFirst())?.id;
}

function digestDraft(draft: FlowDefinition) {
  const definition = JSON.stringify(draft);
  return { definition, digest: createHash('sha256').update(definition).digest() };
}

function selectSnapshot(db: Db | Tx, flowId: string, digest: Buffer) {
  return db
    .selectFrom('flow_version')
    .select('id')
    .where('flow_id', '=', flowId)
    .where('version', 'is', null)
    .where('digest', '=', digest);
}

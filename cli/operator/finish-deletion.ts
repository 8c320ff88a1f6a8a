import type { Db } from '../../db/connect.ts';
import { type Cancelled, cancelLeft } from '../../db/upkeep/cancel-of-deleted.ts';
import { describeDeletion } from '../terminal/deletion.ts';
import type { CommandResult } from '../terminal/print.ts';

type Deletion = { id: string; projectIds: string[]; cancelled: Cancelled };

/**
 * Marks the runs that a deletion left under way as cancelled, and describes it. A worker cancels their workflows within a
 * minute.
 */
export async function finishDeletion(db: Db, what: string, deletion: Deletion): Promise<CommandResult> {
  const { id, projectIds, cancelled } = deletion;
  await cancelLeft(db, { projectIds });
  return describeDeletion(what, { id, cancelled });
}

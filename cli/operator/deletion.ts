import type { Db } from '../../db/connect.ts';
import { type Cancelled, cancelLeft } from '../../db/upkeep/cancel-deleted.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Throws UsageError unless the name of what is to be deleted was given twice. */
export function requireConfirmation(slug: string, confirm: string): void {
  if (confirm !== slug) throw new UsageError(`Nothing was deleted: --confirm must be ${slug}.`);
}

type Deletion = { id: string; projectIds: string[]; cancelled: Cancelled };

/** Describes a deletion, once the runs that it left under way are marked as cancelled; a worker cancels their workflows within a minute. */
export async function describeDeletion(db: Db, what: string, deletion: Deletion): Promise<CommandResult> {
  const { id, projectIds, cancelled } = deletion;
  await cancelLeft(db, { projectIds });
  const { runs, testRuns, deliveries } = cancelled;
  return {
    json: { id, cancelled },
    text: `Deleted ${what}. Cancelled ${runs} runs, ${testRuns} test runs and ${deliveries} deliveries under way.`,
  };
}

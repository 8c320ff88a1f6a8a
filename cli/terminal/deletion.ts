import { UsageError } from './parse-argument.ts';
import type { CommandResult } from './print.ts';

/** The id of what was deleted, and how much of what was under way in it was cancelled. */
export type Deletion = { id: string; cancelled: { runs: number; testRuns: number; deliveries: number } };

/** Throws UsageError unless `--confirm` repeats the name of the resource to delete. */
export function requireConfirmation(slug: string, confirm: string): void {
  if (confirm !== slug) throw new UsageError(`Nothing was deleted: --confirm must be ${slug}.`);
}

/** Describes the deletion of an organization or project. */
export function describeDeletion(what: string, deletion: Deletion): CommandResult {
  const { runs, testRuns, deliveries } = deletion.cancelled;
  return {
    json: deletion,
    text: `Deleted ${what}. Cancelled ${runs} runs, ${testRuns} test runs and ${deliveries} deliveries under way.`,
  };
}

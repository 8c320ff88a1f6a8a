import { UsageError } from './usage-error.ts';

/** Throws UsageError unless the name of what is to be deleted was given twice. */
export function requireConfirmation(slug: string, confirm: string): void {
  if (confirm !== slug) throw new UsageError(`Nothing was deleted: --confirm must be ${slug}.`);
}

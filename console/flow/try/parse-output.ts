import { findChangedNumber } from '../../ui/find-changed-number.ts';

/** Parses an edited output as JSON, or returns the error to show. */
export function parseOutput(text: string): { value?: unknown; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    const error = findChangedNumber(text);
    return error ? { error } : { value };
  } catch (wrong) {
    const why = wrong instanceof Error ? wrong.message : String(wrong);
    return { error: `The output must be JSON before the run continues: ${why}.` };
  }
}

/** Leaves out of what was typed into a form what is saved by now; the same object where that is nothing. */
export function dropSaved<T extends object>(typed: T, saved: T): T {
  const entries = Object.entries(typed) as [keyof T, unknown][];
  const left = entries.filter(([key, value]) => value !== saved[key]);
  return left.length === entries.length ? typed : (Object.fromEntries(left) as T);
}

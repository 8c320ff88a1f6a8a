/** Removes values that are saved already from what was typed. Returns the same object when there are none. */
export function dropSaved<T extends object>(typed: T, saved: T): T {
  const entries = Object.entries(typed) as [keyof T, unknown][];
  const left = entries.filter(([key, value]) => value !== saved[key]);
  return left.length === entries.length ? typed : (Object.fromEntries(left) as T);
}

const DAY_MS = 86_400_000;

export const EXPIRY_OPTIONS = [
  { id: 'never', label: 'Never' },
  { id: '7', label: 'In 7 days' },
  { id: '30', label: 'In 30 days' },
  { id: '90', label: 'In 90 days' },
  { id: '365', label: 'In a year' },
  { id: 'date', label: 'On a day …' },
] as const;
export type Expiry = (typeof EXPIRY_OPTIONS)[number]['id'];

/**
 * Returns when a key expires: some days from now, or at the end of a day (`2027-01-31`) in the local zone. Null for
 * never; undefined for an invalid day.
 */
export function expiryOf(expiry: Expiry, day: string, now: number = Date.now()): string | null | undefined {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return new Date(now + Number(expiry) * DAY_MS).toISOString();
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

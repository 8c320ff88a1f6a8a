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
 * The moment at which a key expires: so many days from now, or at the end of a day (`2027-01-31`) in the reader's zone.
 * Null for never; undefined when the day is not one.
 */
export function expiryOf(expiry: Expiry, day: string, now: number = Date.now()): string | null | undefined {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return new Date(now + Number(expiry) * DAY_MS).toISOString();
  const end = new Date(`${day}T23:59:59`);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

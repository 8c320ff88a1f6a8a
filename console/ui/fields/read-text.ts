const SLUG_MAX_LENGTH = 64;

// Reads and writes the values of text fields.
const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)$/;
const DECIMAL_FORMAT = new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 20 });

/** Parses a decimal number: undefined for an empty text, NaN for any other text, such as 0x10 or 1e3. */
export function toNumber(text: string): number | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  return DECIMAL.test(typed) ? Number(typed) : Number.NaN;
}

/** Writes a number in decimal digits, so that `toNumber` can parse it; '' for none. */
export function fromNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : DECIMAL_FORMAT.format(value);
}

/**
 * Derives a slug from a name: `Größe & Preis` becomes `grosse-preis`; empty when the name has no Latin letters or
 * digits.
 */
export function toSlug(name: string): string {
  return name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
}

const DECIMAL = /^-?(?:\d+\.?\d*|\.\d+)$/;
const WRITTEN = new Intl.NumberFormat('en', { useGrouping: false, maximumFractionDigits: 20 });

/** Reads a number that is typed in decimal digits: undefined for an empty text, NaN for any other, such as 0x10 or 1e3. */
export function toNumber(text: string): number | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  return DECIMAL.test(typed) ? Number(typed) : Number.NaN;
}

/** Writes a number in decimal digits, so that `toNumber` reads it; the text of none is empty. */
export function fromNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : WRITTEN.format(value);
}

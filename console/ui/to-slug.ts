const SLUG_MAX_LENGTH = 64;

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

const LONGEST = 64;

/** The slug that a name suggests: `Größe & Preis` becomes `grosse-preis`; empty where the name has no Latin letter or digit. */
export function toSlug(name: string): string {
  return name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
}

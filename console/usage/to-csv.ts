type Cell = string | number | null | undefined;

/** Writes a table as CSV (RFC 4180). Text that a spreadsheet would read as a formula gets a leading apostrophe. */
export function toCsv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(quote).join(',')}\r\n`).join('');
}

function quote(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

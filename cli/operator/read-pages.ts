const PAGE = 1_000;

/** Reads the whole of a list of the database; `read` answers at most `limit` rows after the last one, if there is one. */
export async function readPages<T>(read: (last: T | undefined, limit: number) => Promise<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (;;) {
    const page = await read(rows.at(-1), PAGE);
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

// Pages of the management API's lists.

/** One more row than the page holds tells whether there is another page. `cursorOf`: where that one goes on. */
export function toPage<Row>(rows: Row[], limit: number, cursorOf: (row: Row) => string) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { page, end: { hasMore, nextCursor: hasMore && last ? cursorOf(last) : null } };
}

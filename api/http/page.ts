import { z } from 'zod';
import { pageSize } from './query-fields.ts';

export const PAGE_MAX = 200;
export const PAGE_DEFAULT = 50;

/** The `limit` of a list with few or small entries: defaults to the maximum. */
export const fullPageLimit = pageSize(PAGE_MAX, PAGE_MAX);

/** The `limit` of a list that is long or expensive. */
export const pageLimit = pageSize(PAGE_MAX, PAGE_DEFAULT);

export type PageQuery = z.infer<ReturnType<typeof pageQuery>>;

/**
 * Makes a page of `limit` rows. `rows` has one more row when there is another page, which begins after the `cursorOf`
 * the last row.
 */
export function toPage<Row>(rows: Row[], limit: number, cursorOf: (row: Row) => string) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return { page, end: { hasMore, nextCursor: hasMore && last ? cursorOf(last) : null } };
}

/** Makes the schema of one page of a list; `id` is its name in the API document, `key` that of the entries. */
export function pageOf<K extends string, T extends z.ZodType>(id: string, key: K, item: T) {
  const items = { [key]: z.array(item) } as { [key in K]: z.ZodArray<T> };
  return z
    .object({
      ...items,
      hasMore: z.boolean(),
      nextCursor: z
        .string()
        .nullable()
        .meta({ description: 'Where the next page begins; null on the last page.' }),
    })
    .meta({ id });
}

/** Makes the query of a list, whose cursor has the schema `cursor`. */
export function pageQuery(cursor: z.ZodType<string>) {
  return z.strictObject({
    limit: fullPageLimit,
    cursor: cursor.optional().meta({ description: '`nextCursor` of the previous page.' }),
  });
}

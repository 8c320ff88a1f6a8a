import { type RawBuilder, sql } from 'kysely';

/**
 * Returns a column of type json for PostgreSQL's JSON functions and operators. They fail on values with U+0000 or a
 * lone surrogate, which may come from callers, models and code, so escapes are replaced by other text.
 */
export function readableJson(column: string): RawBuilder<unknown> {
  return sql`replace(replace(${sql.ref(column)}::text, ${sql.lit('\\\\')}, '--'), ${sql.lit('\\u')}, ' ')::json`;
}

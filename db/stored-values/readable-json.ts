import { type RawBuilder, sql } from 'kysely';

/**
 * Returns a column of type json for PostgreSQL's JSON functions and operators, all of which fail on a value that has U+0000 or
 * half a surrogate pair anywhere, as values that callers, models or code made may: escapes become other text in it.
 */
export function readableJson(column: string): RawBuilder<unknown> {
  return sql`replace(replace(${sql.ref(column)}::text, ${sql.lit('\\\\')}, '--'), ${sql.lit('\\u')}, ' ')::json`;
}

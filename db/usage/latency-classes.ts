import { type RawBuilder, sql } from 'kysely';

/**
 * Each class reaches 1.2 times as far as the one before, so that its middle is at most 10 % from a measured value.
 * Percentiles are computed from the classes.
 */
const RATIO = sql.lit(1.2);

/** The class of a latency in milliseconds. */
export function latencyClass(ms: RawBuilder<unknown>): RawBuilder<number> {
  return sql`ceil(ln(greatest(1, ${ms})) / ln(${RATIO}))`;
}

/** The latency in the middle of a class, in whole milliseconds. */
export function latencyOf(latencyClass: RawBuilder<unknown>): RawBuilder<number> {
  return sql`round(power(${RATIO}, ${latencyClass} - 0.5))::bigint`;
}

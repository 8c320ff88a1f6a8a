// Query parameters: as strict as request bodies.
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { Route } from './context.ts';
import { refuseIdempotencyKey, takesNoIdempotencyKey } from './idempotency-key.ts';
import { PARSE_OPTIONS, problem, validationError } from './json-body.ts';

/** Parses the query string by `schema`. The 422 names unknown, repeated and wrong parameters. */
export function parseQuery<Schema extends z.ZodType>(
  schema: Schema,
  { query }: Pick<Context, 'query'>,
): z.output<Schema> {
  const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
  if (repeated !== undefined) throw validationError(problem([repeated], 'must be given once'));
  const parsed = schema.safeParse({ ...query }, PARSE_OPTIONS);
  if (!parsed.success) throw validationError(parsed.error);
  return parsed.data;
}

/** Reads the query string into `ctx.state.query` by `schema`. */
export function readQuery(schema: z.ZodType): Middleware {
  return async function readQuery(ctx, next) {
    ctx.state.query = parseQuery(schema, ctx);
    await next();
  };
}

const refuseQuery = readQuery(z.strictObject({}));

/**
 * Whether a route rejects every query parameter. The routes for MCP and Temporal ignore them, because their clients
 * are not ours.
 */
export function takesNoQuery({ operation: { requestParams, tags = [] } }: Route): boolean {
  return !requestParams?.query && !tags.includes('MCP') && !tags.includes('Temporal');
}

/**
 * Lists the handlers of a route. Inserts the rejections of query parameters and of an Idempotency-Key before the last one, where
 * the route takes none.
 */
export function handlersOf(route: Route): Route['handlers'] {
  const refusals = [
    ...(takesNoQuery(route) ? [refuseQuery] : []),
    ...(takesNoIdempotencyKey(route) ? [refuseIdempotencyKey] : []),
  ];
  return route.handlers.toSpliced(-1, 0, ...refusals);
}

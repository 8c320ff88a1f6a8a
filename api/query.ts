// Query parameters: as strict as request bodies.
import type { Middleware } from 'koa';
import type { z } from 'zod';
import { validationError } from './json-body.ts';

/** Reads the query string into `ctx.state.query`, as `schema` describes it: 422 names what is unknown or wrong. */
export function readQuery(schema: z.ZodType): Middleware {
  return async function readQuery(ctx, next) {
    const parsed = schema.safeParse({ ...ctx.query }, { reportInput: false });
    if (!parsed.success) throw validationError(parsed.error);
    ctx.state.query = parsed.data;
    await next();
  };
}

// Query parameters: as strict as request bodies.
import type { Middleware } from 'koa';
import { z } from 'zod';
import type { ZodOpenApiOverride } from 'zod-openapi';
import { PARSE_OPTIONS, problem, validationError } from './json-body.ts';

/** A point in time, as callers write it. */
export const moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], {
    error: 'must be an ISO 8601 date, or a time with its offset, such as 2026-01-31T12:00:00Z',
  })
  .transform((text) => new Date(text));

/** A whole number, written in digits. */
export const queryNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ override: asInteger({ minimum: min, maximum: max }) });

/** The number of entries on a page; `fallback` when the caller does not say. */
export const pageSize = (max: number, fallback: number) =>
  queryNumber(1, max)
    .default(fallback)
    .meta({ override: { default: fallback } });

/** Describes the parameter as an integer in the API document, although it arrives as text. */
function asInteger(bounds: { minimum: number; maximum: number }): ZodOpenApiOverride {
  return ({ jsonSchema }) => {
    delete jsonSchema.pattern;
    Object.assign(jsonSchema, { type: 'integer', ...bounds });
  };
}

/** Reads the query string into `ctx.state.query` by `schema`; the 422 names unknown, repeated and wrong parameters. */
export function readQuery(schema: z.ZodType): Middleware {
  return async function readQuery(ctx, next) {
    const repeated = Object.keys(ctx.query).find((name) => Array.isArray(ctx.query[name]));
    if (repeated !== undefined) throw validationError(problem([repeated], 'must be given once'));
    const parsed = schema.safeParse({ ...ctx.query }, PARSE_OPTIONS);
    if (!parsed.success) throw validationError(parsed.error);
    ctx.state.query = parsed.data;
    await next();
  };
}

/** Makes the schema of a parameter that is true or false. In the API document a boolean, although it arrives as text. */
export function queryBoolean(otherwise: boolean, description: string) {
  return z
    .enum(['true', 'false'])
    .default(otherwise ? 'true' : 'false')
    .transform((sent) => sent === 'true')
    .meta({
      description,
      override({ jsonSchema }) {
        delete jsonSchema.enum;
        Object.assign(jsonSchema, { type: 'boolean', default: otherwise });
      },
    });
}

// Schemas of query parameters, which arrive as text.
import { z } from 'zod';
import type { ZodOpenApiOverride } from 'zod-openapi';

/** An integer, written in digits. */
export const queryNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ override: asInteger({ minimum: min, maximum: max }) });

/** The number of entries on a page; `fallback` by default. */
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

/** Makes the schema of a boolean parameter. In the API document a boolean, although it arrives as text. */
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

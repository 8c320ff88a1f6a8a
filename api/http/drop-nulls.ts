import { z } from 'zod';

/**
 * Removes from parsed JSON, in place, each optional field of `schema` that is null and may not be: null is the same as
 * leaving the field out. Values that the schema does not look into stay as they are.
 */
export function dropNulls(schema: z.core.$ZodType, json: unknown): void {
  if (typeof json !== 'object' || json === null) return;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      for (const [key, field] of Object.entries<z.core.$ZodType>(def.shape))
        dropField(field, json as Fields, key);
      return;
    case 'array':
      if (Array.isArray(json)) for (const item of json) dropNulls(def.element, item);
      return;
    case 'record':
      for (const value of Object.values(json)) dropNulls(def.valueType, value);
      return;
    case 'union':
      for (const option of def.options) dropNulls(option, json);
      return;
    case 'pipe':
      dropNulls(def.in, json);
      return;
    case 'lazy':
      dropNulls(def.getter(), json);
      return;
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      dropNulls(def.innerType, json);
      return;
  }
}

type Fields = Record<string, unknown>;

function dropField(field: z.core.$ZodType, json: Fields, key: string): void {
  if (!Object.hasOwn(json, key)) return;
  if (json[key] !== null) dropNulls(field, json[key]);
  else if (isDropped(field)) delete json[key];
}

/** Fields by whether a null of theirs is dropped. A body may hold hundreds of thousands, and asking a schema is slow. */
const known = new WeakMap<z.core.$ZodType, boolean>();

function isDropped(field: z.core.$ZodType): boolean {
  const dropped = known.get(field) ?? (accepts(field, undefined) && !accepts(field, null));
  known.set(field, dropped);
  return dropped;
}

function accepts(schema: z.core.$ZodType, value: undefined | null): boolean {
  return z.safeParse(schema, value).success;
}

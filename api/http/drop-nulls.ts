import { z } from 'zod';

/**
 * Removes each optional field that is null from parsed JSON, in place: null means the same as leaving the field out.
 * Values that the schema does not describe stay as they are.
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

/**
 * Whether a field's null is dropped. A body may have hundreds of thousands of fields, and asking a schema is slow.
 */
const known = new WeakMap<z.core.$ZodType, boolean>();

function isDropped(field: z.core.$ZodType): boolean {
  const dropped = known.get(field) ?? (accepts(field, undefined) && !accepts(field, null));
  known.set(field, dropped);
  return dropped;
}

function accepts(schema: z.core.$ZodType, value: undefined | null): boolean {
  return z.safeParse(schema, value).success;
}

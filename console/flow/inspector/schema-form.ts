// A JSON Schema of an object as a list of fields. Keywords that the form does not know are kept.
import { isObject } from '../../ui/json/read-json.ts';

export type Members = Record<string, unknown>;
export type JsonSchema = boolean | Members;
export type FieldType = (typeof FIELD_TYPES)[number];
export type SchemaField = { name: string; schema: Members; isRequired: boolean };

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array'] as const;
const NEW_OBJECT: Members = { type: 'object', properties: {}, required: [], additionalProperties: false };

/** The schema of a new field list: an object with one string. */
export const FIRST_SCHEMA: Members = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
};

/** Whether the form can show a schema: an object whose properties are all schemas. */
export function fitsForm(schema: unknown): schema is Members {
  if (!isObject(schema) || schema.type !== 'object') return false;
  const { properties = {}, required = [] } = schema;
  return isObject(properties) && Object.values(properties).every(isObject) && isTexts(required);
}

/** Lists the fields of an object schema in order. */
export function listFields(schema: Members): SchemaField[] {
  const required = isTexts(schema.required) ? schema.required : [];
  return Object.entries((schema.properties ?? {}) as Record<string, Members>).map(([name, field]) => ({
    name,
    schema: field,
    isRequired: required.includes(name),
  }));
}

/** Writes fields into an object schema. Other keywords are kept, and so are required names without a field. */
export function withFields(schema: Members, fields: SchemaField[]): Members {
  const old = new Set(Object.keys((schema.properties ?? {}) as Members));
  const others = (isTexts(schema.required) ? schema.required : []).filter((name) => !old.has(name));
  const required = [...fields.filter(({ isRequired }) => isRequired).map(({ name }) => name), ...others];
  const { required: _old, ...kept } = schema;
  return {
    ...kept,
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    ...((required.length > 0 || schema.required !== undefined) && { required }),
  };
}

/** Adds a required string under a free name. */
export function addField(schema: Members): Members {
  const fields = listFields(schema);
  const names = new Set(fields.map(({ name }) => name));
  let name = 'field';
  for (let next = 2; names.has(name); next += 1) name = `field_${next}`;
  return withFields(schema, [...fields, { name, schema: { type: 'string' }, isRequired: true }]);
}

/** Changes the type of a field. Keywords of the old type are dropped; title and description are kept. */
export function withType(field: Members, type: FieldType): Members {
  const { title, description } = field;
  const kept = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  if (type === 'object') return { ...NEW_OBJECT, ...kept };
  if (type === 'array') return { type, items: { type: 'string' }, ...kept };
  return { type, ...kept };
}

/** Returns the type of a field; undefined for schemas that are edited as JSON. */
export function typeOf(field: Members): FieldType | undefined {
  return FIELD_TYPES.find((type) => type === field.type);
}

/** Sets a keyword, or removes it when the value is undefined. */
export function withKeyword(schema: Members, keyword: string, value: unknown): Members {
  if (value !== undefined) return { ...schema, [keyword]: value };
  const { [keyword]: _old, ...kept } = schema;
  return kept;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

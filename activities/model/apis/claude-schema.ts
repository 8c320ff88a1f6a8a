// The schema of structured output in the form that Anthropic takes (platform.claude.com/docs: "Structured outputs").
import { isObject } from '../../../flow/json.ts';

type Schema = { [keyword: string]: unknown };

/** Keywords that are sent as they are. */
const KEPT = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'title',
  'required',
  'additionalProperties',
  'default',
]);
const FORMATS = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '));
/** Keywords that only narrow a value. Anthropic refuses them; the model reads them in the description, and Weir checks them. */
const DESCRIBED = new Set(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format maxItems minItems uniqueItems'.split(
    ' ',
  ),
);
const MAPS = new Set(['properties', '$defs', 'definitions']);
const DEPTH_MAX = 32;

/** Returns the schema to send; undefined when the format cannot express it. */
export function toClaudeSchema(schema: unknown, depth = 0): Schema | undefined {
  if (!isObject(schema) || depth > DEPTH_MAX) return undefined;
  const sent: Schema = {};
  const described: string[] = [];
  for (const [keyword, value] of Object.entries(schema as Schema)) {
    if (keyword === '$schema' || keyword === '$comment') continue;
    if (KEPT.has(keyword)) sent[keyword] = value;
    else if (MAPS.has(keyword)) sent[keyword] = mapSchemas(value, depth);
    else if (keyword === 'items') sent.items = toClaudeSchema(value, depth + 1);
    else if (keyword === 'anyOf' || keyword === 'allOf') sent[keyword] = listSchemas(value, depth);
    else if (keyword === 'description') sent.description = value;
    else if (isTaken(keyword, value)) sent[keyword] = value;
    else if (DESCRIBED.has(keyword)) described.push(`${keyword}: ${JSON.stringify(value)}`);
    else return undefined;
    if (keyword in sent && sent[keyword] === undefined) return undefined;
  }
  if (!hasClosedObjects(sent)) return undefined;
  if (described.length === 0) return sent;
  const text = typeof sent.description === 'string' ? `${sent.description} ` : '';
  return { ...sent, description: `${text}(${described.join(', ')})` };
}

function isTaken(keyword: string, value: unknown): boolean {
  if (keyword === 'format') return FORMATS.has(value as string);
  return keyword === 'minItems' && (value === 0 || value === 1);
}

/** Objects have to be closed, and closing an open object changes its meaning. */
function hasClosedObjects({ type, properties, additionalProperties }: Schema): boolean {
  const isObjectSchema = properties !== undefined || [type].flat().includes('object');
  return isObjectSchema ? additionalProperties === false : additionalProperties === undefined;
}

function mapSchemas(value: unknown, depth: number): Schema | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).map(([name, child]) => [name, toClaudeSchema(child, depth + 1)]);
  return entries.every(([, child]) => child !== undefined) ? Object.fromEntries(entries) : undefined;
}

function listSchemas(value: unknown, depth: number): Schema[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const schemas = value.map((child) => toClaudeSchema(child, depth + 1));
  return schemas.every((child) => child !== undefined) ? schemas : undefined;
}

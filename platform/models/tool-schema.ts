// The parameters of tools as providers take them.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { followPointer, isObject } from '../../flow/json.ts';
import type { ToolDefinition } from '../../flow/tool-calls.ts';
import { decodeFragment } from '../json-schema/estimate-steps.ts';
import { standardizeSchema } from '../json-schema/standardize-schema.ts';
import { toStrictSchema } from './strict-schema.ts';

type Keywords = { [keyword: string]: Json };

const LEVELS_MAX = 8;
/** Keywords that may stand beside a reference without changing what it means. */
const NOTES = new Set('$schema $defs definitions title description $comment'.split(' '));
/** Keywords that OpenAI and Anthropic refuse at the root of parameters. */
const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
const REFUSED = [...UNIONS, 'enum', 'const', 'not', 'if', 'then', 'else'];

/**
 * Returns a tool with its parameters in standard keywords, and in those of strict mode where it asks for that and they have the
 * same meaning there; otherwise it is not strict. Providers take only parameters of the type object.
 */
export function toSentTool(tool: ToolDefinition): ToolDefinition {
  const { parameters, strict } = tool.function;
  if (parameters === undefined) return tool;
  const { schema } = standardizeSchema(parameters as JsonSchema);
  const root = toObjectRoot(schema);
  const strictly = strict ? toStrictSchema(root) : undefined;
  const sent = { ...tool.function, parameters: (strictly ?? root) as typeof parameters };
  return { ...tool, function: strict && !strictly ? { ...sent, strict: false } : sent };
}

/** Whether the parameters of a tool can be an object, as the arguments of each call are. */
export function takesObjects(parameters: JsonSchema): boolean {
  const { schema } = standardizeSchema(parameters);
  const { type } = isObject(schema) ? followRoot(schema) : {};
  return type === undefined || [type].flat().includes('object');
}

/**
 * Makes the root of parameters an object. What providers refuse there is put into the description, which the model reads; the
 * properties of alternatives are optional.
 */
function toObjectRoot(schema: JsonSchema): Keywords {
  if (!isObject(schema)) return { type: 'object', properties: {} };
  const root = followRoot(schema);
  const described = Object.entries(root).filter(([keyword]) => REFUSED.includes(keyword));
  const kept = Object.entries(root).filter(([keyword]) => !REFUSED.includes(keyword) && keyword !== '$ref');
  const properties = described.length === 0 ? root.properties : unite(root, schema);
  const text = described.map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`).join(', ');
  const { description } = root;
  return {
    ...Object.fromEntries(kept),
    type: 'object',
    properties: properties ?? {},
    ...(text !== '' && {
      description: `${typeof description === 'string' ? `${description} ` : ''}(${text})`,
    }),
  };
}

/** Replaces a reference at the root by what it leads to. */
function followRoot(schema: Keywords): Keywords {
  let root = schema;
  for (let level = 0; level < LEVELS_MAX; level += 1) {
    const { $ref: reference, ...beside } = root;
    const target = follow(schema, reference);
    if (!target || !Object.keys(beside).every((keyword) => NOTES.has(keyword))) break;
    root = { ...target, ...beside };
  }
  return root;
}

function follow(schema: Keywords, reference: Json | undefined): Keywords | undefined {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const target = followPointer(schema, decodeFragment(reference.slice(1)));
  return isObject(target) ? target : undefined;
}

/** Unites the properties of a schema and of its alternatives; one that differs between them may be any of these. */
function unite(root: Keywords, schema: Keywords): Keywords {
  const found = new Map<string, Map<string, Json>>();
  collect(root, 0);
  return Object.fromEntries(
    Array.from(found, ([name, variants]) => {
      const [only, ...others] = variants.values();
      return [name, others.length === 0 ? (only as Json) : { anyOf: [...variants.values()] }];
    }),
  );

  function collect(part: Json | undefined, level: number): void {
    if (!isObject(part) || level > LEVELS_MAX) return;
    for (const [name, property] of Object.entries(isObject(part.properties) ? part.properties : {})) {
      const variants = found.get(name) ?? new Map();
      found.set(name, variants.set(JSON.stringify(property), property));
    }
    collect(follow(schema, part.$ref), level + 1);
    for (const keyword of UNIONS)
      for (const one of Array.isArray(part[keyword]) ? part[keyword] : []) collect(one, level + 1);
  }
}

// Makes a JSON value that conforms to a JSON Schema: always the same one for the same schema and words.
import type { Json } from '../../flow/definition.ts';
import { followPointer } from '../../flow/json.ts';

type Schema = Record<string, unknown>;

/** Limits for schemas that refer to themselves or ask for a billion items. */
const VALUES_MAX = 2_000;
const DEPTH_MAX = 40;
const STRING_MAX_LENGTH = 10_000;
const CHARACTERS_MAX = 1_000_000;

const FORMATS: Record<string, string> = {
  'date-time': '2025-01-01T12:00:00Z',
  date: '2025-01-01',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Fills `schema`: strings with consecutive words, numbers by counting from 1, arrays with two items where allowed.
 * Ignores patterns, `not` and conditions. Fills in null, or short strings, beyond the limits above.
 */
export function instanceOf(schema: unknown, words: string[]): unknown {
  let values = 0;
  let wordsUsed = 0;
  let numbersUsed = 0;
  let charactersLeft = CHARACTERS_MAX;

  function fill(part: unknown, depth: number): unknown {
    values += 1;
    if (values > VALUES_MAX || depth > DEPTH_MAX || typeof part !== 'object' || part === null) return null;
    const node = resolve(part as Schema);
    if ('const' in node) return node.const;
    if (Array.isArray(node.enum)) return node.enum[0] ?? null;
    switch (typeOf(node)) {
      case 'object':
        return object(node, depth);
      case 'array':
        return array(node, depth);
      case 'integer':
      case 'number':
        return number(node);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return string(node);
    }
  }

  function object(node: Schema, depth: number): Schema {
    const properties = asObject(node.properties);
    const required = Array.isArray(node.required) ? node.required.map(String) : [];
    // Optional properties stop first, so that a tree of optional children ends.
    const optional = depth < 4 ? Object.keys(properties) : [];
    const names = [...new Set([...required, ...optional])];
    return Object.fromEntries(names.map((name) => [name, fill(properties[name] ?? {}, depth + 1)]));
  }

  function array(node: Schema, depth: number): unknown[] {
    const prefix = Array.isArray(node.prefixItems) ? node.prefixItems : [];
    const least = asNumber(node.minItems, prefix.length);
    const length = Math.min(
      Math.max(least, depth < 4 ? 2 : 0),
      asNumber(node.maxItems, VALUES_MAX),
      VALUES_MAX,
    );
    return Array.from({ length }, (_, index) => fill(prefix[index] ?? node.items ?? {}, depth + 1));
  }

  function number(node: Schema): number {
    const step = asNumber(node.multipleOf, 1);
    const above = asNumber(node.exclusiveMinimum, -Infinity);
    const below = asNumber(node.exclusiveMaximum, Infinity);
    const low = Math.max(asNumber(node.minimum, -Infinity), above) / step;
    const high = Math.min(asNumber(node.maximum, Infinity), below) / step;
    numbersUsed += 1;
    const multiples = [numbersUsed / step, low, low + 0.5, high - 1, low + 1].map(
      (at) => Math.ceil(at) * step,
    );
    const candidates = [...multiples, Math.floor(high) * step, ((low + high) / 2) * step];
    const fits = (value: number) =>
      value >= low * step && value <= high * step && value > above && value < below;
    return candidates.find(fits) ?? 0;
  }

  function string(node: Schema): string {
    const known = FORMATS[String(node.format)];
    if (known !== undefined) return known;
    const least = Math.min(asNumber(node.minLength, 0), STRING_MAX_LENGTH, charactersLeft);
    const parts: string[] = [];
    let length = -1;
    do {
      const word = words[wordsUsed % words.length] ?? 'demo';
      parts.push(word);
      length += 1 + word.length;
      wordsUsed += 1;
    } while (parts.length < 3 || length < least);
    charactersLeft = Math.max(0, charactersLeft - length);
    return parts.join(' ').slice(0, asNumber(node.maxLength, STRING_MAX_LENGTH)).toWellFormed();
  }

  /** Follows `$ref`, merges `allOf`, and takes the first of `anyOf` or `oneOf`. */
  function resolve(node: Schema): Schema {
    values += 1;
    if (values > VALUES_MAX) return {};
    if (typeof node.$ref === 'string')
      return resolve(asObject(followPointer(schema as Json, node.$ref.slice(1))));
    let merged = node;
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const parts = Array.isArray(node[key]) ? node[key] : [];
      for (const part of key === 'allOf' ? parts : parts.slice(0, 1)) {
        const next = resolve(asObject(part));
        merged = {
          ...merged,
          ...next,
          properties: { ...asObject(merged.properties), ...asObject(next.properties) },
          required: [merged.required ?? [], next.required ?? []].flat(),
        };
      }
    }
    return merged;
  }

  return fill(schema, 0);
}

function typeOf(node: Schema): unknown {
  const types = [node.type].flat();
  if (types[0] !== undefined) return types.find((type) => type !== 'null') ?? 'null';
  if (Object.keys(asObject(node.properties)).length > 0) return 'object';
  if ('items' in node || 'prefixItems' in node) return 'array';
  return 'minimum' in node || 'maximum' in node ? 'number' : 'string';
}

function asObject(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? (value as Schema) : {};
}

function asNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

// Prompt templates (docs/blocks.md).
import type { Json } from './definition.ts';

export type TemplateValues = { message: string; previousOutput: Json; parameters: { [key: string]: Json } };

const VARIABLE = /\{\{\s*(message|previous_output|parameters((?:\.[A-Za-z0-9_-]+)+))\s*\}\}/g;
/** A text that looks like a variable: a name, with a path perhaps. Other text in braces is left alone. */
const LOOKALIKE = /\{\{\s*[\p{L}_$][\p{L}\p{N}_$.[\] -]{0,98}\}\}/gu;

/** A template with its variables filled in, measured before it is built, since a short template may make a huge text. */
export type Rendering = { length: number; build(): string };

/**
 * Replaces `{{message}}`, `{{previous_output}}` and `{{parameters.<key>}}` (a path of keys, such as `a.b.0`) in one pass; inserted text is never
 * interpreted again. Strings are inserted as they are, other values as JSON, an absent parameter as nothing.
 */
export function renderTemplate(template: string, values: TemplateValues): Rendering {
  const texts = new Map<string, string>();
  const textOf = (variable: string, parameter: string | undefined): string => {
    const text = texts.get(variable) ?? toText(insertedValue(values, variable, parameter));
    texts.set(variable, text);
    return text;
  };
  const pieces: string[] = [];
  let end = 0;
  for (const match of template.matchAll(VARIABLE)) {
    pieces.push(template.slice(end, match.index), textOf(match[1] as string, match[2]));
    end = match.index + match[0].length;
  }
  pieces.push(template.slice(end));
  return {
    length: pieces.reduce((sum, piece) => sum + piece.length, 0),
    build: () => pieces.join(''),
  };
}

function insertedValue(values: TemplateValues, variable: string, parameter: string | undefined): Json {
  if (variable === 'message') return values.message;
  if (variable === 'previous_output') return values.previousOutput;
  const keys = (parameter as string).slice(1).split('.');
  return keys.reduce<Json>((value, key) => memberOf(value, key), values.parameters);
}

/** Returns a member of an object or an array; '' when there is none. */
function memberOf(value: Json, key: string): Json {
  if (value === null || typeof value !== 'object' || !{}.propertyIsEnumerable.call(value, key)) return '';
  return (value as { [key: string]: Json })[key] as Json;
}

/** Finds, each once, the texts that look like variables and are not, which `renderTemplate` leaves as they are. */
export function findUnknownVariables(template: string): string[] {
  return [...new Set(template.replace(VARIABLE, '}').match(LOOKALIKE))];
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

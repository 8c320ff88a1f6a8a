// Prompt templates (docs/blocks.md).
import type { Json } from './definition.ts';
import { RENDERED_PROMPT_MAX_CHARS } from './limits.ts';

type Members = { [key: string]: Json };

/** `outputs`: those of earlier steps, by step_id. */
export type TemplateValues = { message: string; previousOutput: Json; parameters: Members; outputs: Members };

const NAME = String.raw`\s*(message|previous_output|(?:parameters|steps)(?:\.[A-Za-z0-9_-]+)+)\s*\}\}`;
/** A variable, or backslashes before braces: the last of an odd number makes the braces a text, each pair is one. */
const PLACE = new RegExp(String.raw`\{\{${NAME}|(?<!\\)(\\+)\{\{(?:${NAME})?`, 'g');
/** A text that looks like a variable: a name, with a path perhaps. Other text in braces is left alone. */
const LOOKALIKE = /\{\{\s*[\p{L}_$][\p{L}\p{N}_$.[\] -]{0,98}\}\}/gu;

/**
 * A template with its variables filled in, measured before it is built, since a short template may make a huge text. `length` is
 * exact up to RENDERED_PROMPT_MAX_CHARS; a text over that may be longer than `length` says, and is not to be built.
 */
export type Rendering = { length: number; build(): string };

/**
 * Replaces `{{message}}`, `{{previous_output}}`, `{{parameters.<key>}}` and `{{steps.<step_id>}}` (both with a path of keys, such
 * as `a.b.0`) in one pass; inserted text is never interpreted again. Strings are inserted as they are, other values as JSON, an
 * absent value as nothing. A step without an output stays as it is. `\{{` is the text `{{`, and `\\{{message}}` a backslash before
 * the message.
 */
export function renderTemplate(template: string, values: TemplateValues): Rendering {
  const texts = new Map<string, string>();
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
  };
  const textOf = (variable: string): string => {
    const known = texts.get(variable);
    // Parts of one value may be many, and each as long as the value.
    if (known !== undefined || length > RENDERED_PROMPT_MAX_CHARS) return known ?? '';
    const text = toText(insertedValue(values, variable));
    texts.set(variable, text);
    return text;
  };
  let end = 0;
  for (const { text, backslashes, variable, index } of listPlaces(template)) {
    const stepId = stepOf(variable ?? '');
    const isAbsent = stepId !== undefined && !Object.hasOwn(values.outputs, stepId);
    if (isAbsent && backslashes === 0) continue;
    add(template.slice(end, index) + '\\'.repeat(Math.floor(backslashes / 2)));
    add(variable === undefined || isAbsent ? text.slice(backslashes) : textOf(variable));
    end = index + text.length;
  }
  add(template.slice(end));
  return { length, build: () => pieces.join('') };
}

function insertedValue(
  { message, previousOutput, parameters, outputs }: TemplateValues,
  variable: string,
): Json {
  if (variable === 'message') return message;
  if (variable === 'previous_output') return previousOutput;
  const [root, ...keys] = variable.split('.');
  return keys.reduce<Json>(memberOf, root === 'steps' ? outputs : parameters);
}

/** Returns a member of an object or an array; '' when there is none. */
function memberOf(value: Json, key: string): Json {
  if (value === null || typeof value !== 'object' || !{}.propertyIsEnumerable.call(value, key)) return '';
  return (value as Members)[key] as Json;
}

function stepOf(variable: string): string | undefined {
  return variable.startsWith('steps.') ? variable.split('.')[1] : undefined;
}

type Place = { text: string; index: number; backslashes: number; variable: string | undefined };

/** Lists the variables and escaped braces of a template; an escaped variable is none. */
function listPlaces(template: string): Place[] {
  return Array.from(template.matchAll(PLACE), ({ 0: text, 1: bare, 2: slashes = '', 3: named, index }) => {
    const backslashes = slashes.length;
    return { text, index, backslashes, variable: bare ?? (backslashes % 2 === 0 ? named : undefined) };
  });
}

/** Lists the steps whose outputs a template inserts, each once. */
export function listTemplateSteps(template: string): string[] {
  const steps = listPlaces(template).map(({ variable = '' }) => stepOf(variable));
  return [...new Set(steps.filter((step) => step !== undefined))];
}

/** Lists the variables in a text, each once and in braces. */
export function listVariables(template: string): string[] {
  const names = listPlaces(template).map(({ variable }) => variable);
  return [...new Set(names.filter((name) => name !== undefined).map((name) => `{{${name}}}`))];
}

/** Finds, each once, the texts that look like variables and are not, which `renderTemplate` leaves as they are. */
export function findUnknownVariables(template: string): string[] {
  let [rest, end] = ['', 0];
  for (const { text, index, backslashes, variable } of listPlaces(template)) {
    const isText = variable === undefined && backslashes % 2 === 0;
    rest += `${template.slice(end, index)}}${isText ? '{{' : ''}`;
    end = index + text.length;
  }
  return [...new Set((rest + template.slice(end)).match(LOOKALIKE))];
}

/** Writes a value as it stands in a text: a text as it is, all else as JSON. */
export function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

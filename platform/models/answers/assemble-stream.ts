// Puts together the answer of a server that streams although it was not asked to.
import { isObject } from '../../../flow/json.ts';
import { assembleEvents, EARLY_END } from './assemble-events.ts';

type Fields = { [field: string]: unknown };

const STREAM = /^\s*(?::|(?:data|event|id|retry) ?:)/;
/** Comments that a server sends before an answer that is no stream, so that the connection stays open. */
const COMMENTS = /^\s*(?::[^\n]*\n\s*)+(?=\{)/;
const END = '[DONE]';
/** The fields of a part that come in pieces. */
const PIECES = new Set(['text', 'summary', 'data', 'signature']);
/** An event of its own, whether an empty line comes after it or not. */
const WHOLE = /^\{.*\}$/;
/** The end of a stream after a whole answer. */
const TRAILING_END = /data: ?\[DONE\]$/;

/** Returns the texts of the chunks in an event stream, or in JSON lines; undefined for a single JSON text. */
export function findChunks(body: string): string[] | undefined {
  if (!STREAM.test(body) || COMMENTS.test(body))
    return isJsonLines(body) ? body.trim().split(/\r?\n/) : undefined;
  // A byte order mark counts as white space.
  return body
    .trimStart()
    .split(/\r?\n\r?\n|\r\r/)
    .flatMap((event) => {
      const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
      const data = lines.map((line) => line.slice('data:'.length).trim());
      const parts = data.every((each) => each === END || WHOLE.test(each)) ? data : [data.join('\n')];
      // Anything else, such as a ping, is no part of an answer.
      return parts.filter((each) => each === END || /^[{["]/.test(each));
    });
}

/** Returns a whole JSON text without what servers put around it: a byte order mark, and the end of a stream. */
export function stripEnd(body: string): string {
  return body
    .replace(/^\ufeff/, '')
    .replace(COMMENTS, '')
    .trimEnd()
    .replace(TRAILING_END, '');
}

function isJsonLines(body: string): boolean {
  const [first = '', second] = body.trim().split(/\r?\n/, 2);
  return second?.startsWith('{') === true && first.startsWith('{') && first.includes('"delta"');
}

/**
 * Makes the answer of chunks; those of Chat Completions become a completion. Texts of the same field are joined, and parts of a
 * tool call by its index. Where the stream ends neither with a finish reason nor with `[DONE]`, the completion has an error.
 * Throws SyntaxError.
 */
export function assembleStream(chunks: string[], parse: (text: string) => unknown = JSON.parse): Fields {
  const all = chunks.filter((chunk) => chunk !== END).map((chunk) => parse(chunk));
  const assembled = assembleEvents(all);
  if (assembled) return assembled;
  const answer: Fields = {};
  const choice: Fields = {};
  const message: Fields = {};
  let hasChoice = false;
  for (const parsed of all) {
    if (!isObject(parsed)) continue;
    const { choices, ...others } = parsed as Fields;
    for (const [field, value] of Object.entries(others)) if (value !== null) answer[field] = value;
    const first: unknown = Array.isArray(choices)
      ? choices.find((each) => isObject(each) && (each.index ?? 0) === 0)
      : undefined;
    if (!isObject(first)) continue;
    hasChoice = true;
    const { delta, message: whole, text, ...rest } = first as Fields;
    for (const [field, value] of Object.entries(rest)) if (value !== null) choice[field] = value;
    if (isObject(whole)) Object.assign(message, whole);
    else addDelta(message, isObject(delta) ? delta : typeof text === 'string' ? { content: text } : {});
  }
  const isEnded = chunks.includes(END) || choice.finish_reason !== undefined;
  return {
    ...answer,
    ...(hasChoice && { choices: [{ ...choice, message }] }),
    ...(!isEnded &&
      answer.error === undefined && { error: hasChoice ? { message: EARLY_END } : endOf(answer) }),
  };
}

/** Returns what an answer without choices says, where it says anything. */
function endOf(answer: Fields): unknown {
  return Object.keys(answer).length > 0 ? answer : { message: EARLY_END };
}

function addDelta(message: Fields, delta: Fields): void {
  for (const [field, value] of Object.entries(delta)) {
    const before = Object.hasOwn(message, field) ? message[field] : undefined;
    if (value === null) continue;
    if (field === 'tool_calls') message[field] = addCalls(before, value);
    else if (field === 'function_call')
      message[field] = addFunction(isObject(before) ? before : {}, isObject(value) ? value : {});
    else if (field === 'role') message[field] = value;
    else if (typeof value === 'string' && typeof before === 'string') message[field] = before + value;
    else if (Array.isArray(value)) message[field] = addParts(Array.isArray(before) ? before : [], value);
    else message[field] = value;
  }
}

/** Adds the parts of a list. Those of the same index are one, such as a piece of reasoning and its signature. */
function addParts(before: unknown[], parts: unknown[]): unknown[] {
  const list = [...before];
  for (const part of parts) {
    const index = isObject(part) ? (part as Fields).index : undefined;
    const place =
      index === undefined ? -1 : list.findIndex((each) => isObject(each) && (each as Fields).index === index);
    const known = list[place];
    if (!isObject(part) || !isObject(known)) list.push(part);
    else list[place] = joinParts(known as Fields, part as Fields);
  }
  return list;
}

function joinParts(known: Fields, part: Fields): Fields {
  const joined = { ...known };
  for (const [field, value] of Object.entries(part)) {
    const before = known[field];
    if (value === null && before !== undefined) continue;
    const isPiece = PIECES.has(field) && typeof value === 'string' && typeof before === 'string';
    joined[field] = isPiece ? before + value : value;
  }
  return joined;
}

/**
 * Adds parts of tool calls to those before. A part without an index belongs to the call of its id, or else to the last. One with
 * an id and a name of its own is a new call: Gemini gives each call of an answer the index 0.
 */
function addCalls(before: unknown, parts: unknown): Fields[] {
  const calls = Array.isArray(before) ? (before as Fields[]) : [];
  for (const part of Array.isArray(parts) ? parts : [parts]) {
    if (!isObject(part)) continue;
    const { index, function: called, ...rest } = part as Fields;
    const isNamed = rest.id && isObject(called) && (called as Fields).name;
    const known = calls.findLast((call) =>
      index === undefined
        ? rest.id !== undefined && call.id === rest.id
        : call.index === index && !(isNamed && call.id && call.id !== rest.id),
    );
    const isNew = index !== undefined || rest.id !== undefined || calls.length === 0;
    const call = known ?? (isNew ? {} : (calls.at(-1) as Fields));
    if (!calls.includes(call)) calls.push(call);
    for (const [field, value] of Object.entries({ index, ...rest }))
      if (value !== undefined && value !== null && value !== '') call[field] ??= value;
    call.function = addFunction(isObject(call.function) ? call.function : {}, isObject(called) ? called : {});
  }
  return calls;
}

function addFunction(before: Fields, part: Fields): Fields {
  const { name, arguments: args, ...rest } = part;
  const has = (value: unknown) => value !== undefined && value !== null && value !== '';
  const joined =
    typeof before.arguments === 'string' && typeof args === 'string' ? before.arguments + args : args;
  return {
    ...before,
    ...rest,
    // Some servers repeat the name in each part.
    ...(has(name) && { name: before.name ?? name }),
    ...(has(args) && { arguments: joined }),
  };
}

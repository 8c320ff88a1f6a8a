// The work on large JSON texts and code that the thread does: pure functions from bytes to small answers and bytes.

import { isObject } from '../../flow/json.ts';
import { JSON_DEPTH_MAX, LAST_ANSWER_MAX_CHARS, OUTPUT_MAX_BYTES } from '../../flow/limits.ts';
import type { ApiKind } from '../config/config.ts';
import { type CodeFindings, readCode } from '../javascript/read-code.ts';
import { type JsonMeasure, type JsonMost, measureJson } from '../json-text/measure-json.ts';
import { findRawNumber, parseExactly } from '../json-text/parse-exactly.ts';
import { findInexactNumber, findMember } from '../json-text/scan-json.ts';
import { assembleStream, findChunks, stripEnd } from '../models/answers/assemble-stream.ts';
import { readContent } from '../models/answers/read-content.ts';
import { toCompletion } from '../models/answers/to-completion.ts';
import { NEVER_SENT } from '../models/assistant-state.ts';

/** The measure of a text and, where that is too large to parse, of a member of it; absent when not there. */
export type Measure = JsonMeasure & { member?: { bytes: number; excess?: string | undefined } };

/** All that a task needs to know besides the text. */
export type TaskOptions = {
  member?: string | undefined;
  most?: JsonMost;
  asText?: boolean;
  /** The API that a model's answer comes from. */
  api?: ApiKind | undefined;
};

/**
 * A chat completion without what nobody reads. `content`: a long text of it as JSON, which is left out of `answer`; of one that
 * is longer than any output may be, only `tooLong`, its number of characters.
 */
export type Completion = {
  answer: unknown;
  content?: Uint8Array<ArrayBuffer>;
  tooLong?: number;
  /** Text, reasoning and refusal of the message, from any form; the text is absent where it is left out. Reasoning is cut. */
  said?: { text?: string | undefined; reasoning: string; refusal: string };
  /** The field of the message that has a number which JavaScript would round, and which providers want back. */
  inexact?: string;
};

export const TASKS = {
  /** Measures a JSON text, and the outermost member of this name where the text is too large to parse. */
  measure(json: Uint8Array, { member, most }: TaskOptions): Measure {
    const measured = measureJson(json, most);
    const found = measured.excess && member !== undefined ? findMember(json, member) : undefined;
    return {
      ...measured,
      ...(found && { member: { bytes: found.length, excess: measureJson(found).excess } }),
    };
  },

  /** Measures a JSON text and parses it where that is allowed. Throws SyntaxError. */
  check(json: Uint8Array): Measure {
    const measured = measureJson(json);
    if (!measured.excess) JSON.parse(textOf(json));
    return measured;
  },

  /** Reads an answer of `api` into a chat completion; `asText` leaves its text in. Throws SyntaxError. */
  readCompletion(json: Uint8Array, { asText = false, api }: TaskOptions): Completion {
    const body = textOf(json);
    const chunks = findChunks(body);
    const read = (parse: (text: string) => unknown) =>
      toCompletion(chunks ? assembleStream(chunks, parse) : parse(stripEnd(body)), api);
    const answer = read(JSON.parse);
    const inexact = findInexactNumber(json) && keepDigits(answer, read(parseExactly));
    return { ...readAnswer(answer, asText), ...(inexact !== undefined && { inexact }) };
  },

  readCode(source: Uint8Array): CodeFindings {
    return readCode(textOf(source));
  },
};

function readAnswer(answer: unknown, asText: boolean): Completion {
  if (!isObject(answer)) return { answer };
  const { id, model, choices, usage, service_tier, x_groq, error, ...others } = answer as Fields;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const errors = first === undefined ? pickErrors(others) : {};
  const kept = first === undefined ? choices : [first];
  const completion = { ...errors, id, model, choices: kept, usage, service_tier, x_groq, error };
  const message = isObject(first) ? messageOf(first) : undefined;
  if (!message) return { answer: completion };
  const { text, reasoning, refusal } = readContent(message);
  const said = { reasoning: reasoning.slice(0, LAST_ANSWER_MAX_CHARS).toWellFormed(), refusal };
  if (asText || text === undefined || text.length < LEFT_IN_MAX_LENGTH)
    return { answer: completion, said: { ...said, text } };
  message.content = '';
  if (text.length > OUTPUT_MAX_BYTES) return { answer: completion, said, tooLong: text.length };
  return { answer: completion, said, content: new TextEncoder().encode(JSON.stringify(text)) };
}

type Message = { tool_calls?: ({ function?: { arguments?: unknown } } | null)[] };
type Answer = { choices?: ({ message?: Message; delta?: Message } | null)[] };

/**
 * Replaces arguments of tool calls that are objects by the JSON text of the same ones in `exact`. Returns the path of another
 * number in the message of `exact` that would be rounded.
 */
function keepDigits(answer: unknown, exact: unknown): string | undefined {
  const message = messageIn(exact);
  const exactCalls = callsOf(message);
  for (const [index, call] of callsOf(messageIn(answer)).entries()) {
    const called = exactCalls[index]?.function;
    if (!call?.function || !called) continue;
    if (isObject(called.arguments)) called.arguments = JSON.stringify(called.arguments);
    if (typeof called.arguments === 'string') call.function.arguments = called.arguments;
  }
  const state = Object.entries(message ?? {}).filter(([field]) => !NEVER_SENT.has(field));
  return findRawNumber(Object.fromEntries(state), JSON_DEPTH_MAX)?.join('.');
}

function messageIn(completion: unknown): Message | undefined {
  const choice = (completion as Answer | null)?.choices?.[0];
  return choice?.message ?? choice?.delta;
}

function callsOf(message: Message | undefined) {
  return Array.isArray(message?.tool_calls) ? message.tool_calls : [];
}

/** The members, besides `error`, in which providers report errors with status 200. */
function pickErrors({ errors, detail, base_resp, message, msg, error_msg }: Record<string, unknown>) {
  return { errors, detail, base_resp, message, msg, error_msg };
}

type Fields = { [field: string]: unknown };

/** Finds the message of a choice. Some servers send that of a stream's only chunk, or the text of a completion without chat. */
function messageOf(choice: Fields): Fields | undefined {
  const { message, delta, text } = choice;
  if (message === undefined && isObject(delta)) choice.message = delta;
  else if (message === undefined && typeof text === 'string') choice.message = { content: text };
  return isObject(choice.message) ? choice.message : undefined;
}

/** A shorter text costs less than what goes on around it. */
const LEFT_IN_MAX_LENGTH = 256 * 1024;

function textOf(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, json.length).toString();
}

// The request that `weir run` sends: a file, options, or both.

import { InvalidArgumentError } from 'commander';
import { idempotencyHeaders } from '../../api/http/idempotency-header.ts';
import { ServiceError } from '../../flow/errors.ts';
import { isObject } from '../../flow/json.ts';
import { findInexactNumber, hasInfiniteNumber } from '../../platform/json-text/scan-json.ts';
import { readSource } from '../terminal/files.ts';
import { UsageError } from '../terminal/parse-argument.ts';

type JsonObject = { [key: string]: unknown };

const OVERRIDE_EXAMPLE = `'topics={"prompt":"Name the topics of {{message}}"}'`;

export type RequestOptions = {
  file?: string;
  message?: string;
  parameters?: JsonObject;
  override?: JsonObject;
  maxCredits?: number;
  callbackUrl?: string;
};

/** Makes the body of POST …/jobs; an option replaces that field of the file. */
export async function readRunRequest(options: RequestOptions): Promise<JsonObject> {
  const { file, message, parameters, override, maxCredits, callbackUrl } = options;
  if (file === undefined && message === undefined) throw new UsageError('Give --message, or --file.');
  return {
    ...(file !== undefined && (await readRequest(file))),
    ...(message !== undefined && { message }),
    ...(parameters && { parameters }),
    ...(override && { block_overrides: override }),
    ...(maxCredits !== undefined && { maxCredits }),
    ...(callbackUrl !== undefined && { callbackUrl }),
  };
}

async function readRequest(file: string): Promise<JsonObject> {
  const parsed = parseObject(await readSource(file), '{"message":"hi"}');
  if (parsed.value) return parsed.value;
  throw new ServiceError('VALIDATION_ERROR', `${file} is not a request: ${parsed.problem}`);
}

export function parseParameters(text: string): JsonObject {
  return parseJsonObject(text, '\'{"language":"fr"}\'');
}

function parseJsonObject(text: string, example: string): JsonObject {
  const parsed = parseObject(text, example);
  if (parsed.value) return parsed.value;
  throw new InvalidArgumentError(parsed.problem);
}

/** Parses `step_id={…}` and adds it to the overrides before it. */
export function parseOverride(text: string, before: JsonObject = {}): JsonObject {
  const [, step, json] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (step === undefined || json === undefined)
    throw new InvalidArgumentError(`Write it as step_id={…}, e.g. ${OVERRIDE_EXAMPLE}.`);
  return { ...before, [step]: parseJsonObject(json, OVERRIDE_EXAMPLE) };
}

/** Parses a number of credits; the service checks its size. */
export function parseMaxCredits(text: string): number {
  if (/^\d+(?:\.\d{1,6})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('Give a number above 0, with at most six decimal places.');
}

export function parseIdempotencyKey(text: string): string {
  if (idempotencyHeaders.safeParse({ 'Idempotency-Key': text }).success) return text;
  throw new InvalidArgumentError('Give up to 255 visible ASCII characters, without spaces.');
}

type Parsed = { value: JsonObject; problem?: never } | { value?: never; problem: string };

function parseObject(text: string, example: string): Parsed {
  const number = findInexactNumber(Buffer.from(text));
  if (number) return { problem: `The digits of ${number.digits} would be changed: write it as text.` };
  try {
    const value: unknown = JSON.parse(text);
    if (hasInfiniteNumber(value)) return { problem: 'A number is too large for JSON: write it as text.' };
    if (isObject(value)) return { value: value as JsonObject };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { problem: `Give a JSON object, e.g. ${example}.` };
}

// Reads structured output: the value of an answer, bare or wrapped, and where it does not match its schema.
import type { Json, JsonSchema } from '../../flow/definition.ts';
import { extendPointer, findRefusedMember, isObject } from '../../flow/json.ts';
import { JSON_DEPTH_MAX } from '../../flow/limits.ts';
import { findInexactNumber } from '../../platform/json-text/scan-json.ts';
import { WRAPPED } from '../../platform/models/wrap-schema.ts';
import { findJsonValues } from './find-json.ts';
import { isDeeper } from './is-deeper.ts';

/** A path consists of the model's own keys, which may be long. */
const PATH_MAX_LENGTH = 300;

/** `path` is a JSON Pointer into the value. */
export type Problem = { path: string; message: string };

export type OutputValidator = {
  /** Returns [] when the value matches. */
  validate(schema: JsonSchema, value: Json): Promise<Problem[]>;
};

/** The value of an answer. `problems`: where it does not match the outputSchema; `asked`: the same for what the model was asked. */
export type Reading = { value: Json; problems: Problem[]; asked: Problem[] };

/**
 * Reads an answer and validates its value. An answer with several values needs exactly one that matches the schema.
 * `isWrapped`: the model was asked for an object with the value in it, but may have answered the bare value.
 */
export async function readOutput(
  validator: OutputValidator,
  schema: JsonSchema,
  text: string,
  isWrapped: boolean,
): Promise<Reading> {
  const readings: Reading[] = [];
  for (const answer of findJsonValues(text, JSON_DEPTH_MAX + (isWrapped ? 1 : 0))) {
    const reading = await readValue(validator, schema, answer, isWrapped);
    // A string that matches is meant as it is, whatever JSON it holds.
    if (reading.problems.length === 0 && typeof reading.value === 'string') return reading;
    readings.push(reading);
  }
  const matching = readings.filter(({ problems }) => problems.length === 0);
  const [reading, ...others] = matching.length > 0 ? matching : readings;
  if (!reading) return { value: null, ...ofBoth([findInexact(text) ?? describeUnread(text)]) };
  return others.length > 0 ? { value: null, ...ofBoth([SEVERAL]) } : reading;
}

/** Whether a text is one JSON object or list, and nothing else. */
export function isJsonText(text: string): boolean {
  try {
    return /^\s*[[{]/.test(text) && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

async function readValue(
  validator: OutputValidator,
  schema: JsonSchema,
  answer: Json,
  isWrapped: boolean,
): Promise<Reading> {
  const wrapped = isWrapped ? findWrapped(answer) : undefined;
  const value = wrapped === undefined ? answer : wrapped;
  if (isDeeper(value, JSON_DEPTH_MAX)) return { value: null, ...ofBoth([NOT_JSON]) };
  const refused = findRefusedMember(value);
  if (refused) {
    const path = refused.reduce(extendPointer, '').slice(0, PATH_MAX_LENGTH);
    return {
      value: null,
      ...ofBoth([{ path, message: 'is a key that is not accepted: name it otherwise' }]),
    };
  }
  const problems = await findProblems(validator, schema, value);
  if (!isWrapped || problems.length === 0) return { value, ...ofBoth(problems) };
  // A schema of several types may take an object that only looks like the wrapper.
  if (wrapped !== undefined && (await findProblems(validator, schema, answer)).length === 0)
    return { value: answer, ...ofBoth([]) };
  const asked = problems.map(({ path, message }) => ({ path: `/${WRAPPED}${path}`, message }));
  return { value, problems, asked: wrapped === undefined ? [NOT_WRAPPED, ...asked] : asked };
}

const SEVERAL = { path: '', message: 'must be one JSON value; the answer has several' };

const NOT_JSON = {
  path: '',
  message: `is not JSON of at most ${JSON_DEPTH_MAX} levels, with whole numbers of at most 53 bits and no number beyond 1.8e308`,
};

/** Says why a text has no value. */
function describeUnread(text: string): Problem {
  if (text.trim() === '') return { path: '', message: 'is empty' };
  return /[[{\d]/.test(text) ? NOT_JSON : { path: '', message: 'is not JSON' };
}

/** Finds a whole number in a JSON answer that JavaScript would round. */
function findInexact(text: string): Problem | undefined {
  const found = findInexactNumber(Buffer.from(text));
  if (!found) return undefined;
  const path = found.path.reduce(extendPointer, '').slice(0, PATH_MAX_LENGTH);
  return { path, message: `is ${found.digits}, a whole number of more than 53 bits: it must be text` };
}

const NOT_WRAPPED = { path: '', message: `must be an object with "${WRAPPED}" as its only property` };

const ofBoth = (problems: Problem[]) => ({ problems, asked: problems });

/** Finds the value in an object that has nothing else. */
function findWrapped(answer: Json): Json | undefined {
  return isObject(answer) && Object.keys(answer).join() === WRAPPED ? answer[WRAPPED] : undefined;
}

async function findProblems(validator: OutputValidator, schema: JsonSchema, value: Json): Promise<Problem[]> {
  const problems = await validator.validate(schema, value);
  return problems.map((problem) => ({ ...problem, path: problem.path.slice(0, PATH_MAX_LENGTH) }));
}

// Request bodies: parsed, bounded, without unknown fields.
import type { Middleware } from 'koa';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import { findNearestName } from '../../flow/find-nearest-name.ts';
import { isRefusedMember } from '../../flow/json.ts';
import { FLOW_STEPS_MAX, JSON_DEPTH_MAX } from '../../flow/limits.ts';
import { mostOf } from '../../platform/json-text/measure-json.ts';
import { findInexactNumber } from '../../platform/json-text/scan-json.ts';
import { LARGE_JSON_BYTES } from '../../platform/large-values/large-json.ts';
import type { Measure } from '../../platform/large-values/tasks.ts';
import { readerSignal } from './reader-signal.ts';
import { BODY_MAX_BYTES, type BodyDeps, receive } from './receive-body.ts';
import { waitInTime } from './wait-in-time.ts';
import { describeIssue, dropNulls } from './zod-input.ts';

/** Has room for outputs of 4 MiB besides the rest of a request. */
const MOST = mostOf(BODY_MAX_BYTES);
/** The field in which callers send back earlier outputs. It accepts every possible block output. */
const ECHOED_FIELD = 'accumulatedOutputs';
/** A block's output may be as deep as a body, and every step around or after it may add a level. */
const ECHOED_MAX_DEPTH = JSON_DEPTH_MAX + FLOW_STEPS_MAX + 2;

/** Words validation problems for callers. */
export const PARSE_OPTIONS: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: false,
  error: describeIssue,
};

type BodyRules = {
  excess?: { member: string; refuse(measured: NonNullable<Measure['member']>): void };
  first?: (json: unknown) => void;
  before?: ((json: unknown) => void)[];
  describe?: (error: z.ZodError) => ServiceError;
};

/**
 * Reads the body into `ctx.state.body` by `schema`. `excess` may reject a body because one member is too large to
 * parse. `first` checks the parsed JSON, and each of `before` checks it after null fields were removed. `describe`
 * makes the error for a body that does not fit. The body stays in memory until it is released or the response is closed.
 */
export function readBody(
  deps: BodyDeps,
  schema: z.ZodType,
  { excess, first, before = [], describe = validationError }: BodyRules = {},
): Middleware {
  return async function readBody(ctx, next) {
    try {
      const { owner, bytes } = await (ctx.state.received ?? receive(deps, ctx));
      // Measured first: parsing would block the process for seconds when a body contains millions of empty lists.
      const measure = (signal?: AbortSignal) =>
        deps.largeValues.json.measure(owner, bytes, { member: excess?.member, most: MOST, signal });
      const isLarge = bytes.length >= LARGE_JSON_BYTES;
      const measured = await (isLarge ? waitInTime(measure, readerSignal(ctx.res)) : measure());
      refuseExcess(measured, excess);
      const json = parseJson(bytes);
      ctx.state.received = undefined;
      first?.(json);
      checkStructure(json, describe);
      dropNulls(schema, json);
      for (const check of before) check(json);
      const parsed = schema.safeParse(json, PARSE_OPTIONS);
      if (!parsed.success) throw describe(parsed.error);
      ctx.state.body = parsed.data;
      await next();
    } catch (error) {
      // The error may be delayed, and needs none of the body.
      ctx.state.releaseBody?.();
      throw error;
    }
  };
}

/** Reads a body as `readBody` does. Reads `{}` from a request without one. */
export function readOptionalBody(deps: BodyDeps, schema: z.ZodType): Middleware {
  const read = readBody(deps, schema);
  return async function readOptionalBody(ctx, next) {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = ctx.headers;
    if (length !== '0' || encoding !== undefined) return read(ctx, next);
    ctx.state.body = schema.parse({});
    await next();
  };
}

function refuseExcess({ excess, member }: Measure, rule: BodyRules['excess']): void {
  if (!excess) return;
  if (member) rule?.refuse(member);
  throw validationError(problem([], `${excess}: send less, or as text`));
}

function inexact(number: string): string {
  return `holds the whole number ${number}, whose digits would be changed: send it as text`;
}

/**
 * Parses the JSON of a body. Throws VALIDATION_ERROR for an integer that JavaScript cannot represent, and
 * MALFORMED_JSON for a text that is not JSON in UTF-8.
 */
export function parseJson(bytes: Buffer): unknown {
  const number = findInexactNumber(bytes);
  if (number) throw validationError(problem(number.path, inexact(number.digits)));
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const what = error instanceof SyntaxError ? `is not valid JSON: ${error.message}` : 'is not valid UTF-8';
    throw new ServiceError('MALFORMED_JSON', `The body ${what}.`);
  }
}

type JsonPlace = { value: object; key: string; above: JsonPlace | undefined; depth: number; echoed: boolean };

/** Checks every value once, so that later checks can skip free-form JSON. */
function checkStructure(json: unknown, describe: (error: z.ZodError) => ServiceError): void {
  const places: JsonPlace[] = [];
  const invalid = (path: string[], message: string) => describe(problem(path, message));
  const look = (value: unknown, key: string, above: JsonPlace | undefined) => {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw invalid(pathOf(key, above), 'is a number too large for JSON');
    if (value === null || typeof value !== 'object') return;
    const depth = (above?.depth ?? 0) + 1;
    const echoed = above?.echoed || (depth === 3 && above?.key === ECHOED_FIELD);
    const most = echoed ? ECHOED_MAX_DEPTH : JSON_DEPTH_MAX;
    if (depth > most) throw invalid(pathOf(key, above), `is nested deeper than ${most} levels`);
    places.push({ value, key, above, depth, echoed });
  };
  look(json, '', undefined);
  for (let place = places.pop(); place; place = places.pop()) {
    const { value } = place;
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) look(value[i], String(i), place);
    else {
      // An output may have any keys, and a step any name.
      const holdsOutputs = place.depth === 2 && place.key === ECHOED_FIELD;
      for (const [key, child] of Object.entries(value)) {
        if (isRefusedMember(key, holdsOutputs ? undefined : child))
          throw invalid(
            pathOf(key, place),
            `is a key that is not accepted${key === 'constructor' ? ' with a `prototype`' : ''}`,
          );
        look(child, key, place);
      }
    }
  }
}

function pathOf(key: string, above: JsonPlace | undefined): string[] {
  const keys = [key];
  for (let place = above; place?.above; place = place.above) keys.unshift(place.key);
  return keys;
}

/** Makes a validation problem that Zod did not find. */
export function problem(path: string[], message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path, message, input: undefined }]);
}

const PATH_MAX_LENGTH = 200;
/** Maximum number of problems in one response. */
export const PROBLEMS_MAX = 20;

/** Makes the 422 that names each wrong field. */
export function validationError(error: z.ZodError): ServiceError {
  const issues = error.issues.slice(0, PROBLEMS_MAX);
  const pathKey = ({ path }: { path: PropertyKey[] }) => path.join('.');
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(pathKey));
  // A value of another type has no length: a text in place of a list is not "too long".
  const apt = issues.filter((issue) => issue.code === 'invalid_type' || !mistyped.has(pathKey(issue)));
  const errors = apt.flatMap((issue) => {
    const field = pathKey(issue).slice(0, PATH_MAX_LENGTH);
    if (issue.code !== 'unrecognized_keys') return [{ field: field || 'body', message: issue.message }];
    const absent = issue.message.split(', ');
    return issue.keys.slice(0, PROBLEMS_MAX).map((key) => {
      const meant = findNearestName(key, absent);
      return {
        field: (field ? `${field}.${key}` : key).slice(0, PATH_MAX_LENGTH),
        message: `is not a known field${meant === undefined ? '' : `: did you mean ${meant}?`}`,
      };
    });
  });
  return new ServiceError(
    'VALIDATION_ERROR',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { errors },
  );
}

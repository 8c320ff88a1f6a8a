// Request bodies: only JSON, bounded, without unknown fields.
import type { Context, Middleware } from 'koa';
import getRawBody from 'raw-body';
import { z } from 'zod';
import { createByteBudget, SMALL_BYTES } from '../../fairness/byte-budget.ts';
import type { EndTurn } from '../../fairness/turns.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findJsonExcess } from '../../flow/find-json-excess.ts';
import { FLOW_STEPS_MAX } from '../../flow/limits.ts';
import { REFUSED_KEYS } from '../../flow/refused-keys.ts';
import type { ReceivedBody } from './context.ts';
import { describeIssue } from './describe-issue.ts';
import { ownerOf } from './principal.ts';
import { IN_HAND_BYTES, SHARE_BYTES, takeBytes, takeLargeWork } from './take-bytes.ts';

export const BODY_MAX_BYTES = 10 * 1024 * 1024;
export const BODY_MAX_DEPTH = 64;
/** The memory of one process for request bodies. */
const bodies = createByteBudget(IN_HAND_BYTES, SHARE_BYTES);
/** The field in which callers send back earlier outputs: whatever a block may answer is accepted there. */
const ECHOED_FIELD = 'accumulatedOutputs';
/** A block's output may be as deep as a body, and every step around or after it may add a level. */
const ECHOED_MAX_DEPTH = BODY_MAX_DEPTH + FLOW_STEPS_MAX + 2;

/** Words problems in what callers send. */
export const PARSE_OPTIONS: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: false,
  error: describeIssue,
};

type BodyRules = {
  excess?: (bytes: Uint8Array) => void;
  before?: ((json: unknown) => void)[];
  describe?: (error: z.ZodError) => ServiceError;
};

/**
 * Reads the body into `ctx.state.body` by `schema`. `excess` may refuse bytes that are too much to parse, and each of `before`
 * the parsed JSON. `describe` makes the error for what does not fit the schema or may be in no body.
 */
export function readBody(
  schema: z.ZodType,
  { excess, before = [], describe = validationError }: BodyRules = {},
): Middleware {
  return async function readBody(ctx, next) {
    const { owner, bytes, giveBack } = await (ctx.state.received ?? receive(ctx));
    let endTurn: EndTurn | undefined;
    try {
      endTurn = await takeLargeWork(owner, bytes.length);
      const json = parseJson(bytes, excess);
      checkStructure(json, describe);
      for (const check of before) check(json);
      const parsed = schema.safeParse(json, PARSE_OPTIONS);
      if (!parsed.success) throw describe(parsed.error);
      ctx.state.body = parsed.data;
      ctx.state.dropBody = () => {
        ctx.state.body = undefined;
        endTurn?.();
        giveBack();
      };
      await next();
    } finally {
      endTurn?.();
      giveBack();
    }
  };
}

/**
 * Waits until the body has arrived, or is refused, which `readBody` then tells: a caller that sends slowly holds no turn
 * meanwhile.
 */
export const receiveBody: Middleware = async (ctx, next) => {
  const received = receive(ctx);
  ctx.state.received = received;
  const body = await received.catch(() => undefined);
  try {
    await next();
  } finally {
    body?.giveBack();
  }
};

async function receive(ctx: Context): Promise<ReceivedBody> {
  requireJson(ctx.get('content-type'), ctx.get('content-encoding').toLowerCase());
  const length = ctx.get('content-length');
  const { flow, principal } = ctx.state;
  const owner: string = flow?.organizationId ?? (principal ? ownerOf(principal) : '');
  const giveBack = await takeBytes(bodies, owner, announcedBytes(length));
  try {
    return { owner, bytes: await readBytes(ctx.req, length), giveBack };
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** The announced length of the body; the most it may have when it announces none. */
function announcedBytes(length: string): number {
  return length === '' ? BODY_MAX_BYTES : Math.min(Number(length) || 0, BODY_MAX_BYTES);
}

export function requireJson(contentType: string, contentEncoding: string): void {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  const utf8 = charset === undefined || ['utf-8', 'utf8'].includes(charset.slice(8).replaceAll('"', ''));
  if (type.trim() !== 'application/json' || !utf8)
    throw new ServiceError(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as Content-Type: application/json, in UTF-8.',
    );
  if (contentEncoding !== '' && contentEncoding !== 'identity')
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a Content-Encoding.');
}

export function bodyTooLarge(): ServiceError {
  return new ServiceError('BODY_TOO_LARGE', `The body is over ${BODY_MAX_BYTES} bytes.`);
}

async function readBytes(request: NodeJS.ReadableStream, length: string): Promise<Buffer> {
  let resuming: NodeJS.Immediate | undefined;
  // Otherwise megabytes are read in one turn of the event loop, from each of many connections.
  const pace = () => {
    request.pause();
    resuming = setImmediate(() => request.resume());
  };
  if (announcedBytes(length) >= SMALL_BYTES) request.on('data', pace);
  try {
    return await getRawBody(request, { limit: BODY_MAX_BYTES, length: length || null });
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? error.type : undefined;
    if (type === 'entity.too.large') throw bodyTooLarge();
    if (type === 'request.aborted' || type === 'request.size.invalid' || type === 'stream.not.readable')
      throw new ServiceError('MALFORMED_JSON', 'The body ended before its announced length.');
    throw error;
  } finally {
    request.off('data', pace);
    clearImmediate(resuming);
  }
}

export function parseJson(bytes: Buffer, refuseExcess?: BodyRules['excess']): unknown {
  // Parsing blocks the process: for seconds, when a body of an allowed size holds millions of empty lists.
  const excess = findJsonExcess(bytes);
  if (excess) {
    refuseExcess?.(bytes);
    throw validationError(problem([], `${excess}: send less, or as text`));
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const what = error instanceof SyntaxError ? `is not valid JSON: ${error.message}` : 'is not valid UTF-8';
    throw new ServiceError('MALFORMED_JSON', `The body ${what}.`);
  }
}

type Place = { value: object; key: string; above: Place | undefined; depth: number; echoed: boolean };

/** Looks at every value once, so that no later check has to: the shape of free JSON is not validated again. */
function checkStructure(json: unknown, describe: (error: z.ZodError) => ServiceError): void {
  const places: Place[] = [];
  const invalid = (path: string[], message: string) => describe(problem(path, message));
  const look = (value: unknown, key: string, above: Place | undefined) => {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw invalid(pathOf(key, above), 'is a number too large for JSON');
    if (value === null || typeof value !== 'object') return;
    const depth = (above?.depth ?? 0) + 1;
    const echoed = above?.echoed || (depth === 3 && above?.key === ECHOED_FIELD);
    const most = echoed ? ECHOED_MAX_DEPTH : BODY_MAX_DEPTH;
    if (depth > most) throw invalid(pathOf(key, above), `is nested deeper than ${most} levels`);
    places.push({ value, key, above, depth, echoed });
  };
  look(json, '', undefined);
  for (let place = places.pop(); place; place = places.pop()) {
    const { value } = place;
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) look(value[i], String(i), place);
    else
      for (const key of Object.keys(value)) {
        if (!place.echoed && REFUSED_KEYS.has(key))
          throw invalid(pathOf(key, place), 'is a key that is not accepted');
        look((value as Record<string, unknown>)[key], key, place);
      }
  }
}

function pathOf(key: string, above: Place | undefined): string[] {
  const keys = [key];
  for (let place = above; place?.above; place = place.above) keys.unshift(place.key);
  return keys;
}

/** Makes a validation problem that Zod did not find. */
export function problem(path: string[], message: string): z.ZodError {
  return new z.ZodError([{ code: 'custom', path, message, input: undefined }]);
}

const PATH_MAX_LENGTH = 200;
/** Problems that one answer names at most. */
export const PROBLEMS_MAX = 20;

/** Makes the 422 that names each wrong field. */
export function validationError(error: z.ZodError): ServiceError {
  const errors = error.issues.slice(0, PROBLEMS_MAX).flatMap((issue) => {
    const field = issue.path.join('.').slice(0, PATH_MAX_LENGTH);
    if (issue.code !== 'unrecognized_keys') return [{ field: field || 'body', message: issue.message }];
    return issue.keys.slice(0, PROBLEMS_MAX).map((key) => ({
      field: (field ? `${field}.${key}` : key).slice(0, PATH_MAX_LENGTH),
      message: 'is not a known field',
    }));
  });
  return new ServiceError(
    'VALIDATION_ERROR',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { errors },
  );
}

// Request bodies: JSON only, bounded, strict (spec: 422 request validation error).
import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import type { z } from 'zod';
import { ServiceError } from '../flow/errors.ts';

export const BODY_MAX_BYTES = 10 * 1024 * 1024;
export const BODY_MAX_DEPTH = 64;
/** Keys that reach for an object's prototype. */
const REFUSED_KEYS = new Set(['__proto__', 'constructor']);

/** Reads the body into `ctx.state.body`, as `schema` describes it. */
export function readBody(schema: z.ZodType): Middleware {
  return async function readBody(ctx, next) {
    requireJson(ctx.get('content-type'), ctx.get('content-encoding'));
    const json = parseJson(await readBytes(ctx.req, ctx.get('content-length')));
    checkStructure(json);
    const parsed = schema.safeParse(json, {
      reportInput: false,
      error: (issue) => (issue.input === undefined ? 'is required' : undefined),
    });
    if (!parsed.success) throw validationError(parsed.error);
    ctx.state.body = parsed.data;
    await next();
  };
}

function requireJson(contentType: string, contentEncoding: string): void {
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

async function readBytes(request: NodeJS.ReadableStream, length: string): Promise<Buffer> {
  try {
    return await getRawBody(request, { limit: BODY_MAX_BYTES, length: length || null });
  } catch (error) {
    const type = error instanceof Error && 'type' in error ? error.type : undefined;
    if (type === 'entity.too.large')
      throw new ServiceError('BODY_TOO_LARGE', `The body is over ${BODY_MAX_BYTES} bytes.`);
    if (type === 'request.aborted' || type === 'request.size.invalid')
      throw new ServiceError('MALFORMED_JSON', 'The body ended before its announced length.');
    throw error;
  }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const what = error instanceof SyntaxError ? `is not valid JSON: ${error.message}` : 'is not valid UTF-8';
    throw new ServiceError('MALFORMED_JSON', `The body ${what}.`);
  }
}

function checkStructure(json: unknown): void {
  const queue: { value: unknown; path: string; depth: number }[] = [{ value: json, path: '', depth: 1 }];
  for (let entry = queue.pop(); entry; entry = queue.pop()) {
    const { value, path, depth } = entry;
    if (value === null || typeof value !== 'object') continue;
    if (depth > BODY_MAX_DEPTH) throw invalid(path, `is nested deeper than ${BODY_MAX_DEPTH} levels`);
    for (const [key, child] of Object.entries(value)) {
      const childPath = path === '' ? key : `${path}.${key}`;
      if (REFUSED_KEYS.has(key)) throw invalid(childPath, 'is a key that is not accepted');
      if (child !== null && typeof child === 'object')
        queue.push({ value: child, path: childPath, depth: depth + 1 });
    }
  }
}

const PATH_MAX_LENGTH = 200;

function invalid(path: string, message: string): ServiceError {
  const field = path.slice(0, PATH_MAX_LENGTH);
  return new ServiceError('VALIDATION_ERROR', `${field} ${message}.`, { errors: [{ field, message }] });
}

/** A 422 that names each field. */
export function validationError(error: z.ZodError): ServiceError {
  const errors = error.issues.slice(0, 20).flatMap((issue) => {
    const field = issue.path.join('.');
    if (issue.code !== 'unrecognized_keys') return [{ field: field || 'body', message: issue.message }];
    return issue.keys.map((key) => ({
      field: field ? `${field}.${key}` : key,
      message: 'is not a known field',
    }));
  });
  return new ServiceError(
    'VALIDATION_ERROR',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    { errors },
  );
}

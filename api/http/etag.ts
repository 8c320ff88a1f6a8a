// Strong ETags (RFC 9110): whoever sends one back is told in a few bytes that nothing has changed, or changes what they have
// read, or nothing.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiContext } from './context.ts';

/** Computes the strong ETag of a text: equal texts have equal ETags. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`;
}

/** Tells whether the header If-None-Match names an ETag. (Koa's `fresh` says no to a request with Cache-Control.) */
export function isNamed(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}

/** Throws PRECONDITION_FAILED, which names the ETag of `what`, unless the header If-Match is absent, `*` or holds it. */
export function requireMatch(ifMatch: string, etag: string, what: string): void {
  if (ifMatch === '' || ifMatch === '*') return;
  if (!ifMatch.split(',').some((tag) => tag.trim() === etag)) throw changedSince(what, etag);
}

export function changedSince(what: string, etag: string): ServiceError {
  return new ServiceError(
    'PRECONDITION_FAILED',
    `The ${what} has changed since you read it, and stays as it is now: read it again. Its ETag is in detail.etag.`,
    { etag },
  );
}

/** Answers with an object and its ETag, or with 304 where the request names that. */
export function answerWithETag(ctx: ApiContext, body: object): void {
  const text = JSON.stringify(body);
  const etag = etagOf(text);
  ctx.status = 200;
  ctx.set('ETag', etag);
  if (isNamed(ctx.get('If-None-Match'), etag)) {
    ctx.status = 304;
    return;
  }
  ctx.type = 'json';
  ctx.body = text;
}

/** The request header of `answerWithETag` and the response header, as the API document shows them. */
export const ifNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: 'An ETag that you were given: 304 while the answer has it.' }),
});
export const etagHeader = {
  ETag: z.string().optional().meta({ description: 'Send it as If-None-Match the next time.' }),
};

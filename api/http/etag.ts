// Strong ETags (RFC 9110), for conditional reads and writes.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../flow/errors.ts';
import type { ApiContext } from './context.ts';

/** Computes the strong ETag of a text. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url')}"`;
}

/** Whether the header If-None-Match names an ETag. (Koa's `fresh` ignores the header when Cache-Control is sent.) */
export function isNamed(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  return ifNoneMatch.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}

/**
 * Throws PRECONDITION_FAILED with the ETag of `what`, unless the header If-Match is absent, `*` or names the ETag.
 */
export function requireMatch(ifMatch: string, etag: string, what: string): void {
  if (ifMatch === '' || ifMatch === '*') return;
  if (!ifMatch.split(',').some((tag) => tag.trim() === etag)) throw changedSince(what, etag);
}

export function changedSince(what: string, etag: string): ServiceError {
  return new ServiceError(
    'PRECONDITION_FAILED',
    `The ${what} has changed since you read it, and stays as it is now: read it again, and repeat the change.`,
    { etag },
  );
}

/** Answers with an object and its ETag, or with 304 when the request names that ETag. */
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

/** The headers of `answerWithETag`, for the API document. */
export const ifNoneMatch = z.object({
  'If-None-Match': z
    .string()
    .optional()
    .meta({ description: 'An ETag that you received. The answer is 304 while it is unchanged.' }),
});
export const etagHeader = {
  ETag: z.string().optional().meta({ description: 'Send it as If-None-Match the next time.' }),
};

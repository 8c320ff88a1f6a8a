// ETags of drafts (RFC 9110): whoever sends one back changes the draft that they have read, or nothing.
import type { FlowDefinition } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { etagOf } from '../http/etag.ts';

/** Computes the strong ETag of a stored draft: equal drafts have equal ETags. */
export function draftETag(draft: FlowDefinition): string {
  return etagOf(JSON.stringify(draft));
}

/** Throws PRECONDITION_FAILED, which names the draft's ETag, unless the header If-Match is absent, `*` or holds it. */
export function requireMatch(ifMatch: string, draft: FlowDefinition): void {
  if (ifMatch === '' || ifMatch === '*') return;
  const etag = draftETag(draft);
  if (!ifMatch.split(',').some((tag) => tag.trim() === etag)) throw draftChanged(etag);
}

export function draftChanged(etag: string): ServiceError {
  return new ServiceError(
    'PRECONDITION_FAILED',
    'The draft has changed since you read it, and stays as it is now: read it again. Its ETag is in detail.etag.',
    { etag },
  );
}

export function ifMatchMissing(): ServiceError {
  return new ServiceError(
    'PRECONDITION_REQUIRED',
    'Send the ETag of the draft that you have read as If-Match, or * to replace whatever is there.',
  );
}

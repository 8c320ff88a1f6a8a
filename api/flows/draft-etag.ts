import type { FlowDefinition } from '../../flow/definition.ts';
import { etagOf } from '../http/etag.ts';

/** Computes the strong ETag of a stored draft: equal drafts have equal ETags. */
export function draftETag(draft: FlowDefinition): string {
  return etagOf(JSON.stringify(draft));
}

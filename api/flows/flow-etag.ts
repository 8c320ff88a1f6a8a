import type { FlowDefinition } from '../../flow/definition.ts';
import { etagOf } from '../http/etag.ts';

/** Computes the ETag of the fields that `PUT` changes: name and description. The draft has its own ETag. */
export function flowETag({ name, description }: { name: string; description: string }): string {
  return etagOf(JSON.stringify([name, description]));
}

/** Computes the strong ETag of a stored draft: equal drafts have equal ETags. */
export function draftETag(draft: FlowDefinition): string {
  return etagOf(JSON.stringify(draft));
}

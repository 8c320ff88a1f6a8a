import type { FlowDefinition } from '../../flow/definition.ts';
import { canonicalJson } from '../../flow/json.ts';
import { etagOf } from '../http/etag.ts';

/** Computes the ETag of the fields that `PUT` changes: name and description. The draft has its own ETag. */
export function flowETag({ name, description }: { name: string; description: string }): string {
  return etagOf(JSON.stringify([name, description]));
}

/** Computes the ETag of a draft. The order of keys makes no difference: many clients do not keep it. */
export function draftETag(draft: FlowDefinition): string {
  return etagOf(canonicalJson(draft));
}

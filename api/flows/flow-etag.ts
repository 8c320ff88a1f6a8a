import { etagOf } from '../http/etag.ts';

/** Computes the ETag of a flow, which names what `PUT` changes: its name and description. The draft has one of its own. */
export function flowETag({ name, description }: { name: string; description: string }): string {
  return etagOf(JSON.stringify([name, description]));
}

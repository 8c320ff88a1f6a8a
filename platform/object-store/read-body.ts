import type { Readable } from 'node:stream';
import { hashOf } from './hash-of.ts';
import { ObjectLost, type StoredObject } from './object-store.ts';

/** Collects the bytes of an object. Rejects with ObjectLost when they are not those that were written. */
export async function readBody(body: Readable, { bytes, sha256 }: StoredObject): Promise<Buffer> {
  const collected = Buffer.allocUnsafeSlow(bytes);
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (length + chunk.length > bytes) throw new ObjectLost('The object is longer than it was.');
    collected.set(chunk, length);
    length += chunk.length;
  }
  if (length < bytes) throw new ObjectLost('The object is shorter than it was.');
  if ((await hashOf(collected)) !== sha256) throw new ObjectLost('The object has other bytes than it had.');
  return collected;
}

// Ids that begin with a time, so that rows of the same days lie together in indexes.
import { randomBytes } from 'node:crypto';

/** The bytes of an id that hold its time, in milliseconds since 1970. */
const TIME_BYTES = 6;

/** Creates an id that begins with this time: a version 7 UUID. */
export function createTimedId(at: Date = new Date()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(at.getTime(), 0, TIME_BYTES);
  return toUuid(bytes, 7);
}

/** Reads the time that the text of an id begins with. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 2 * TIME_BYTES), 16));
}

/** Derives an id (a version 8 UUID) from a hash; it begins with the time of `id`, to which it belongs. */
export function deriveId(id: string, hash: Buffer): string {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes.writeUIntBE(timeOfId(id).getTime(), 0, TIME_BYTES);
  return toUuid(bytes, 8);
}

function toUuid(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// Compresses payloads: the references that a wide parallel step after a long loop hands to each of its blocks would
// otherwise overflow a workflow task.
import { promisify } from 'node:util';
import { constants, deflate, inflate } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';

const COMPRESSED = 'binary/zlib';
/** Smaller payloads stay as they are, so that operators can read them in the Temporal Web UI. */
const THRESHOLD_BYTES = 8 * 1024;

/** Deflates large payloads on their way to the engine, and reads both deflated and plain ones. */
export const compressPayloads: PayloadCodec = {
  encode: (payloads) => Promise.all(payloads.map(compress)),
  decode: (payloads) => Promise.all(payloads.map(decompress)),
};

async function compress(payload: Payload): Promise<Payload> {
  const { data, metadata } = payload;
  if (!data || !metadata?.encoding || data.length < THRESHOLD_BYTES) return payload;
  return {
    metadata: { ...metadata, encoding: Buffer.from(COMPRESSED), 'inner-encoding': metadata.encoding },
    data: await promisify(deflate)(data, { level: constants.Z_BEST_SPEED }),
  };
}

async function decompress(payload: Payload): Promise<Payload> {
  const { 'inner-encoding': inner, ...metadata } = payload.metadata ?? {};
  if (!inner || !payload.data) return payload;
  return { metadata: { ...metadata, encoding: inner }, data: await promisify(inflate)(payload.data) };
}

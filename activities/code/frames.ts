// Messages between the service and a guest process: two lengths (32 bits, big endian), a JSON header, a body of JSON text.
// Unlike Node's IPC channel they have a size limit, and the service deserializes nothing but JSON
// (docs/decisions/0009-user-code-in-processes.md).

/** One message; `body` is JSON text that this layer does not parse. */
export type Frame = { header: unknown; body: Buffer };

const PREFIX_BYTES = 8;

/** Encodes one message. */
export function encodeFrame(header: unknown, body: Buffer): Buffer {
  const head = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(head.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, head, body]);
}

/** Creates a function that takes chunks and returns the messages they complete; it throws on a message over `maxBytes`. */
export function createFrameDecoder(maxBytes: number): (chunk: Buffer) => Frame[] {
  let chunks: Buffer[] = [];
  let received = 0;
  let wanted = PREFIX_BYTES;

  return function decode(chunk) {
    chunks.push(chunk);
    received += chunk.length;
    const frames: Frame[] = [];
    while (received >= wanted) {
      const bytes = Buffer.concat(chunks);
      chunks = [bytes];
      const bodyStart = PREFIX_BYTES + bytes.readUInt32BE(0);
      const end = bodyStart + bytes.readUInt32BE(4);
      if (end > maxBytes) throw new Error(`A message of ${end} bytes is over the limit of ${maxBytes}`);
      wanted = end;
      if (received < end) break;
      const header: unknown = JSON.parse(bytes.toString('utf8', PREFIX_BYTES, bodyStart));
      frames.push({ header, body: bytes.subarray(bodyStart, end) });
      chunks = [bytes.subarray(end)];
      received -= end;
      wanted = PREFIX_BYTES;
    }
    return frames;
  };
}

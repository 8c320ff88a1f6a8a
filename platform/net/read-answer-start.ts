import type { Readable } from 'node:stream';

/** The rest of a body is not waited for. */
const BODY_TIMEOUT_MS = 2_000;
export const ANSWER_BODY_MAX_BYTES = 4_096;

/**
 * Reads the first bytes of the body of an answer whose status has decided, at most `maxBytes`. A body that stalls or breaks off is
 * taken as far as it came.
 */
export async function readAnswerStart(answer: Readable, maxBytes = ANSWER_BODY_MAX_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => answer.destroy(), BODY_TIMEOUT_MS);
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // As far as it came.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/**
 * Fetches JSON of at most `maxBytes` from an address that an operator has configured; redirects are followed unless that is
 * refused. Throws for every status but success; the error does not name the address, which may hold a token.
 */
export async function fetchJson(
  address: string,
  { maxBytes, ...options }: { maxBytes: number; signal: AbortSignal; redirect?: 'error' },
): Promise<unknown> {
  const response = await fetch(address, options);
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it was answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

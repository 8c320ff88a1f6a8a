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

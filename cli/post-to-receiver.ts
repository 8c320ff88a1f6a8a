import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { describeNetworkError } from '../net/describe-network-error.ts';
import { ANSWER_BODY_MAX_BYTES, TOTAL_TIMEOUT_MS } from '../net/guarded-post.ts';

/** The receiver's answer, or why there was none. */
export type ReceiverAnswer = { status: number; body: string } | { error: string };

/** Posts a delivery as the service would: with these headers and bytes, following no redirects. Never rejects. */
export async function postToReceiver(
  to: URL,
  headers: { [name: string]: string },
  body: Buffer,
): Promise<ReceiverAnswer> {
  const signal = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
  try {
    const answer = await send(to, { method: 'POST', headers, signal, agent: false }, body);
    return { status: answer.statusCode ?? 0, body: await readStart(answer) };
  } catch (error) {
    if (signal.aborted) return { error: `the receiver did not answer within ${TOTAL_TIMEOUT_MS / 1_000} s` };
    return { error: describeNetworkError(error) };
  }
}

function send(to: URL, options: RequestOptions, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    (to.protocol === 'https:' ? requestHttps : requestHttp)(to, options)
      .on('response', resolve)
      .on('error', reject)
      .end(body);
  });
}

/** Reads the start of a body, as far as it comes: the status has decided. */
async function readStart(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BODY_MAX_BYTES) break;
    }
  } catch {
    // As far as it came.
  } finally {
    answer.destroy();
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BODY_MAX_BYTES).toString();
}

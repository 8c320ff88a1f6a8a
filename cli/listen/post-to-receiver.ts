import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { describeNetworkError } from '../../platform/net/describe-network-error.ts';
import { TOTAL_TIMEOUT_MS } from '../../platform/net/guarded-post.ts';
import { readAnswerStart } from '../../platform/net/read-answer-start.ts';

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
    return { status: answer.statusCode ?? 0, body: (await readAnswerStart(answer)).toString() };
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

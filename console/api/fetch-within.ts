import { timedOut } from './api-error.ts';

/** Statuses of answers without a body: Chromium gives them an empty one, with which no `Response` can be made. */
const NO_BODY = [204, 205, 304];

/**
 * Sends a request, and gives it up once nothing has come for so long: no answer, or nothing more of it. Throws TIMED_OUT
 * in the first case; in the second, reading the body fails as that of a lost connection does.
 */
export async function fetchWithin(request: Request, silenceMaxMs: number): Promise<Response> {
  const stop = new AbortController();
  let giveUp = () => stop.abort();
  let timer = setTimeout(() => giveUp(), silenceMaxMs);
  try {
    const response = await fetch(request, { signal: AbortSignal.any([request.signal, stop.signal]) });
    const body = NO_BODY.includes(response.status) ? null : response.body;
    const watched = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        start(controller) {
          giveUp = () => {
            controller.error(new TypeError('Nothing more of the answer came.'));
            stop.abort();
          };
        },
        transform(chunk, controller) {
          clearTimeout(timer);
          timer = setTimeout(() => giveUp(), silenceMaxMs);
          controller.enqueue(chunk);
        },
        flush: () => clearTimeout(timer),
      }),
    );
    if (!watched) clearTimeout(timer);
    return new Response(watched ?? null, response);
  } catch (error) {
    clearTimeout(timer);
    throw stop.signal.aborted ? timedOut(request.method) : error;
  }
}

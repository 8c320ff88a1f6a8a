import { timedOut } from './api-error.ts';

/**
 * Statuses without a body. Chromium gives such responses an empty body, which the constructor of `Response` rejects.
 */
const NO_BODY = [204, 205, 304];

/**
 * Sends a request and aborts it when the service sends nothing for `silenceMaxMs`. Throws TIMED_OUT when no response
 * came. When the body stops, reading it fails as after a lost connection.
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
            controller.error(new TypeError('The response stopped.'));
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

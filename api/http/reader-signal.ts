import type { ServerResponse } from 'node:http';

/** One error for all: creating one per response would cost a stack trace each. */
const GONE = new DOMException('The reader has gone.', 'AbortError');

const readers = new WeakMap<ServerResponse, AbortSignal>();

/** Returns a signal that aborts when the client has gone or `ending` aborts. */
export function readerSignal(res: ServerResponse, ending?: AbortSignal): AbortSignal {
  const gone = readers.get(res) ?? signalGone(res);
  readers.set(res, gone);
  return ending ? AbortSignal.any([gone, ending]) : gone;
}

function signalGone(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (res.closed) gone.abort(GONE);
  else res.once('close', () => gone.abort(GONE));
  return gone.signal;
}

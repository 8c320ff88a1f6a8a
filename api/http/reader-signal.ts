import type { ServerResponse } from 'node:http';

/** One signal for each answer, whose listeners are few. */
const readers = new WeakMap<ServerResponse, AbortSignal>();

/** Returns a signal that aborts when the reader of an answer has gone or `ending` aborts. */
export function readerSignal(res: ServerResponse, ending?: AbortSignal): AbortSignal {
  const gone = readers.get(res) ?? signalGone(res);
  readers.set(res, gone);
  return ending ? AbortSignal.any([gone, ending]) : gone;
}

function signalGone(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (res.closed) gone.abort();
  else res.once('close', () => gone.abort());
  return gone.signal;
}

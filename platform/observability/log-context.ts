import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields that every line logged on behalf of one request, block or delivery has. Names are those of the API. */
export type LogContext = {
  /** The X-Request-Id of the request, also in what it started. */
  request_id?: string;
  organization_id?: string;
  /** The run. */
  execution_id?: string;
  /** The key of a block execution. */
  block?: string;
  delivery_id?: string;
  test_run_id?: string;
  /** The caller: the id of an API key, which is not a secret, or of a user. */
  key_id?: string;
  user_id?: string;
  /** The tool that an assistant called, and the code of the error that it was answered with. */
  tool?: string;
  code?: string;
  /** The limit that refused the request. */
  limit?: string;
  /** Why its API key was refused. */
  reason?: string;
};

const storage = new AsyncLocalStorage<LogContext>();

/** Runs `work`; every line logged meanwhile has `fields` beside those of the context around it. */
export function withLogContext<T>(fields: LogContext, work: () => T): T {
  return storage.run({ ...storage.getStore(), ...fields }, work);
}

/** Adds fields to the current context, once they are known; does nothing outside `withLogContext`. */
export function addToLogContext(fields: LogContext): void {
  const store = storage.getStore();
  if (store) Object.assign(store, fields);
}

/** The current context; undefined outside `withLogContext`. */
export function currentLogContext(): LogContext | undefined {
  return storage.getStore();
}

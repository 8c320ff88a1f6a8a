import { ServiceError } from '@temporalio/client';

/** Says in one line what an error is, with why the engine's client could not do what was asked. */
export function describeEngineError(error: unknown): string {
  if (!(error instanceof ServiceError) || !(error.cause instanceof Error)) return String(error);
  return `${error.message}: ${error.cause.message}`;
}

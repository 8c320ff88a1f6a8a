import { ServiceError as EngineError } from '@temporalio/client';

/** Describes an error in one line, with the cause that the engine's client wraps. */
export function describeEngineError(error: unknown): string {
  if (!(error instanceof EngineError) || !(error.cause instanceof Error)) return String(error);
  return `${error.message}: ${error.cause.message}`;
}

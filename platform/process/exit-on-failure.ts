import { log } from '../observability/log.ts';

/** Returns the result of `start`. When it fails, prints the message without a stack and exits with 1. */
export async function exitOnFailure<T>(start: () => T | Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    log.fatal(cause instanceof Error ? cause.message : String(cause));
    process.exit(1);
  }
}

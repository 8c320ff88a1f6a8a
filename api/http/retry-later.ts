import { type ErrorCode, ServiceError } from '../../flow/errors.ts';

/** The Retry-After of refusals that know no better. */
export const RETRY_AFTER_SECONDS = 5;

/** Refuses a request that may be sent again after `retryAfterSeconds`, which callers read in Retry-After. */
export class RetryLater extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Gives a refusal of whoever has too many under way the time after which to try again; leaves other errors as they are. */
export function toRetryLater(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'RATE_LIMITED') return error;
  return new RetryLater(error.code, error.message);
}

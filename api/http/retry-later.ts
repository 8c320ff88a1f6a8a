import { type ErrorCode, ServiceError } from '../../flow/errors.ts';

/** The Retry-After of refusals that know no better. */
export const RETRY_AFTER_SECONDS = 5;

/** Refuses a request that may be sent again after `retryAfterSeconds`, which callers read in Retry-After. */
export class RetryLater extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, retryAfterSeconds: number) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

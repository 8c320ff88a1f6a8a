import { type ErrorCode, ServiceError } from '../../flow/errors.ts';

/** Refuses a request that may be sent again after `retryAfterSeconds`, which callers read in Retry-After. */
export class RetryLater extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, retryAfterSeconds: number) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

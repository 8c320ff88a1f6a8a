import { type ErrorCode, ServiceError } from '../../flow/errors.ts';

/** The default Retry-After. */
export const RETRY_AFTER_SECONDS = 5;

/** Rejects a request that may be repeated after `retryAfterSeconds`, sent as Retry-After. */
export class RetryLater extends ServiceError {
  readonly retryAfterSeconds: number;

  constructor(code: ErrorCode, message: string, retryAfterSeconds = RETRY_AFTER_SECONDS) {
    super(code, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Adds Retry-After to a RATE_LIMITED error; returns other errors unchanged. */
export function toRetryLater(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'RATE_LIMITED') return error;
  return new RetryLater(error.code, error.message);
}

/** Makes the 422 for one wrong field of a request. */
export function invalidField(field: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { errors: [{ field, message }] });
}

import { ServiceError } from '../../../flow/errors.ts';

/** Makes the 503 for a failed host lookup. It says nothing about the host, and nothing was stored. */
export function lookUpFailed(field: string, message: string, extra: { index?: number } = {}): ServiceError {
  return new ServiceError('DNS_UNAVAILABLE', `${field}: ${message}: send the request again.`, extra);
}

import { ServiceError } from '../../flow/errors.ts';

/** Makes the 404 for an unknown delivery, a delivery of another organization, or a malformed id. */
export function deliveryNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no such delivery.');
}

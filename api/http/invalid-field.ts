import { ServiceError } from '../../flow/errors.ts';

/** Makes the 422 for one wrong field of a request. */
export function invalidField(field: string, message: string): ServiceError {
  return new ServiceError('VALIDATION_ERROR', `${field}: ${message}`, { errors: [{ field, message }] });
}

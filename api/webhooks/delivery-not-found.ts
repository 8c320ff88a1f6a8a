import { ServiceError } from '../../flow/errors.ts';
import { examplesOf, refusal } from '../reference/operations.ts';

/** Makes the 404 for an unknown delivery, one of another organization and a malformed id. */
export function deliveryNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The organization has no such delivery.');
}

/** The error answers of endpoints about one delivery. */
export const DELIVERY_ERRORS = {
  404: refusal(
    'The delivery is unknown, or belongs to another organization.',
    examplesOf(deliveryNotFound()),
  ),
};

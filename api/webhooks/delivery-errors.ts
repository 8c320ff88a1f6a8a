import { errorAnswer, examplesOf } from '../reference/operations.ts';
import { deliveryNotFound } from './delivery-not-found.ts';

/** The error responses of endpoints about one delivery. */
export const DELIVERY_ERRORS = {
  404: {
    id: 'DeliveryNotFound',
    ...errorAnswer(
      'The delivery is unknown, or belongs to another organization.',
      examplesOf(deliveryNotFound()),
    ),
  },
};

// The error answers of endpoints that start runs, as the API reference shows them.
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import type { ErrorCode } from '../../flow/errors.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from '../auth/identity-provider-keys.ts';
import { retryAfter } from '../http/headers.ts';
import { CHANGES_UNKNOWN } from '../http/to-service-error.ts';
import { ATTACHMENT_REFUSALS, CAPABILITY_REGISTRY_UNAVAILABLE } from './attachment-refusals.ts';
import {
  BAD_REQUEST,
  BODY_REFUSALS,
  ERRORS,
  type ErrorExample,
  FLOW_NOT_FOUND,
  INTERNAL_ERROR,
  INVALID_TREE,
  INVALID_VERSION,
  refusal,
} from './operations.ts';

type Codes = { [code in ErrorCode]?: ErrorExample };

/** By status; `more` are the codes of one endpoint beside those that all have. */
export function runErrors(more: { [status: number]: Codes } = {}): ZodOpenApiResponsesObject {
  return {
    ...ERRORS,
    400: refusal('What the request asks for cannot be, as `detail.code` says.', {
      INVALID_VERSION,
      INVALID_TREE,
      BAD_REQUEST,
      PARAMETER_NAME_RESERVED: 'parameters.attachments is reserved: give this parameter another name.',
      ...ATTACHMENT_REFUSALS,
      ...more[400],
    }),
    402: refusal('The organization’s balance is used up.', {
      INSUFFICIENT_CREDITS: 'The organization has no credits left.',
    }),
    404: refusal('Unknown, of another project, or not published.', { FLOW_NOT_FOUND, ...more[404] }),
    409: refusal('At odds with what was before, as `detail.code` says.', {
      IDEMPOTENCY_KEY_REUSED:
        'This Idempotency-Key was used with another request in the last 24 hours: send a new one with each new request.',
      ...more[409],
    }),
    413: refusal('Too large.', { ...BODY_REFUSALS[413], ...more[413] }),
    415: refusal('Not application/json in UTF-8.', BODY_REFUSALS[415]),
    422: refusal('`detail.errors` names each field.', { ...BODY_REFUSALS[422], ...more[422] }),
    500: refusal('A fault of the service: `detail.request_id` finds it in the log.', {
      INTERNAL_ERROR,
      ...more[500],
    }),
    503: refusal(
      'With `detail.executionId`, the run is accepted, or may be: ask for it before sending it again.',
      {
        ...more[503],
        DATABASE_UNAVAILABLE: CHANGES_UNKNOWN,
        CAPABILITY_REGISTRY_UNAVAILABLE,
        IDENTITY_PROVIDER_UNAVAILABLE,
      },
      { 'Retry-After': retryAfter },
    ),
  };
}

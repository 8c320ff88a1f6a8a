// The error answers of endpoints that start runs, as the API reference shows them.
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import type { ErrorCode } from '../flow/errors.ts';
import { ATTACHMENT_REFUSALS, CAPABILITY_REGISTRY_UNAVAILABLE } from './attachment-refusals.ts';
import {
  BAD_REQUEST,
  DATABASE_UNAVAILABLE,
  ERRORS,
  type ErrorExample,
  FLOW_NOT_FOUND,
  INVALID_VERSION,
  refusal,
} from './operations.ts';
import { retryAfter } from './requests.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from './verify-token.ts';

type Codes = { [code in ErrorCode]?: ErrorExample };

const INTERNAL_ERROR = {
  message: 'Something failed inside the service. Nothing is wrong with the request.',
  request_id: '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10',
};

/** By status; `more` are the codes of one endpoint beside those that all have. */
export function runErrors(more: { [status: number]: Codes } = {}): ZodOpenApiResponsesObject {
  return {
    ...ERRORS,
    400: refusal('What the request asks for cannot be, as `detail.code` says.', {
      INVALID_VERSION,
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
    413: refusal('Too large.', { BODY_TOO_LARGE: 'The body is over 10485760 bytes.', ...more[413] }),
    415: refusal('Not application/json in UTF-8.', {
      UNSUPPORTED_MEDIA_TYPE: 'Send the body as Content-Type: application/json, in UTF-8.',
    }),
    422: refusal('`detail.errors` names each field.', {
      VALIDATION_ERROR: {
        message: 'message: is required; mesage: is not a known field',
        errors: [
          { field: 'message', message: 'is required' },
          { field: 'mesage', message: 'is not a known field' },
        ],
      },
      MALFORMED_JSON:
        "The body is not valid JSON: Expected ',' or '}' after property value in JSON at position 14 (line 1 column 15).",
      ...more[422],
    }),
    500: refusal('A fault of the service: `detail.request_id` finds it in the log.', {
      INTERNAL_ERROR,
      ...more[500],
    }),
    503: refusal(
      'With `detail.executionId`, the run is accepted, or may be: ask for it before sending it again.',
      { ...more[503], DATABASE_UNAVAILABLE, CAPABILITY_REGISTRY_UNAVAILABLE, IDENTITY_PROVIDER_UNAVAILABLE },
      { 'Retry-After': retryAfter },
    ),
  };
}

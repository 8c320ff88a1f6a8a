// What the OpenAPI entries of several endpoints share.
import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { errorResponse, idempotentReplayed, rateLimitHeaders, retryAfter } from './requests.ts';

/** The path of a flow, which its endpoints begin with. */
export const FLOW_PATH = '/api/v1/seq/:org/:project/:flow';

/** The unversioned and the versioned path of an execution endpoint. */
export function flowPaths(suffix: string): { path: string; versioned: boolean }[] {
  return [
    { path: `${FLOW_PATH}${suffix}`, versioned: false },
    { path: `${FLOW_PATH}/v:version${suffix}`, versioned: true },
  ];
}

/** A JSON answer to a caller with a valid API key; an error when no schema is given. */
export function answer(
  description: string,
  schema: z.ZodType = errorResponse,
  headers: { [name: string]: z.ZodType } = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ ...rateLimitHeaders, ...headers }),
    content: { 'application/json': { schema } },
  };
}

/** The answer of an endpoint that starts a run. */
export function runAnswer(description: string, schema: z.ZodType): ZodOpenApiResponseObject {
  return answer(description, schema, { 'Idempotent-Replayed': idempotentReplayed });
}

export const READ_ERRORS: ZodOpenApiResponsesObject = {
  400: answer('INVALID_VERSION: version 0 is the draft.'),
  401: {
    description: 'UNAUTHENTICATED: missing or invalid API key.',
    content: { 'application/json': { schema: errorResponse } },
  },
  404: answer('FLOW_NOT_FOUND, RUN_NOT_FOUND: unknown, foreign or not published.'),
  429: answer('RATE_LIMITED: the API key or the organization.', errorResponse, { 'Retry-After': retryAfter }),
  500: answer('INTERNAL_ERROR: `detail.request_id` finds it in the log.'),
};

export const VALIDATION_ERRORS: ZodOpenApiResponsesObject = {
  422: answer('VALIDATION_ERROR: `detail.errors` names each parameter.'),
};

export const RUN_ERRORS: ZodOpenApiResponsesObject = {
  ...READ_ERRORS,
  400: answer('INVALID_VERSION, PARAMETER_NAME_RESERVED'),
  402: answer('INSUFFICIENT_CREDITS'),
  409: answer('IDEMPOTENCY_KEY_REUSED: the Idempotency-Key was used with another request.'),
  413: answer('BODY_TOO_LARGE: over 10 MiB.'),
  415: answer('UNSUPPORTED_MEDIA_TYPE: not application/json in UTF-8.'),
  422: answer('VALIDATION_ERROR, MALFORMED_JSON: `detail.errors` names each field.'),
  503: answer('ENGINE_UNAVAILABLE: the run is accepted and starts later; `detail.executionId` names it.'),
};

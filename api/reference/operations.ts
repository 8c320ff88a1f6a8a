// What the OpenAPI entries of several endpoints share.

import { z } from 'zod';
import type {
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { outputsTooLarge } from '../../db/runs/load-references.ts';
import type { ErrorCode } from '../../flow/errors.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from '../auth/identity-provider-keys.ts';
import { errorBody } from '../http/errors.ts';
import { errorResponse, idempotentReplayed, rateLimitHeaders, retryAfter } from '../http/headers.ts';
import { arrivedLate, HEADERS_TOO_LARGE } from '../http/http-server.ts';
import { DATABASE_UNAVAILABLE, INTERNAL_ERROR as INTERNAL_ERROR_MESSAGE } from '../http/to-service-error.ts';

/** The path of a flow, which its endpoints begin with. */
export const FLOW_PATH = '/api/v1/seq/:org/:project/:flow';

/** The unversioned and the versioned path of an execution endpoint. */
export function flowPaths(suffix: string): { path: string; versioned: boolean }[] {
  return [
    { path: `${FLOW_PATH}${suffix}`, versioned: false },
    { path: `${FLOW_PATH}/v:version${suffix}`, versioned: true },
  ];
}

/** The path of an organization's webhooks. */
export const WEBHOOKS_PATH = '/api/v1/organizations/:org_id/webhooks';

/** Values by the name under which the reference offers them. */
type Examples = { [name: string]: unknown };

/** A JSON request body. */
export function body(schema: z.ZodType, examples: Examples): ZodOpenApiRequestBodyObject {
  return { required: true, content: jsonContent(schema, examples) };
}

type Headers = { [name: string]: z.ZodType };

/** A JSON answer to a caller with a valid API key. */
export function answer(
  description: string,
  schema: z.ZodType,
  examples: Examples,
  headers: Headers = {},
): ZodOpenApiResponseObject {
  return {
    description,
    headers: z.object({ ...rateLimitHeaders, ...headers }),
    content: jsonContent(schema, examples),
  };
}

/** The answer of an endpoint that starts a run. */
export function runAnswer(description: string, schema: z.ZodType, examples: Examples) {
  return answer(description, schema, examples, { 'Idempotent-Replayed': idempotentReplayed });
}

export type ErrorExample = string | { message: string; [field: string]: unknown };

/** An error answer: its codes, each with the message, and further fields, that callers get. */
export function refusal(
  description: string,
  codes: { [code in ErrorCode]?: ErrorExample },
  headers: Headers = {},
): ZodOpenApiResponseObject {
  const examples = Object.entries(codes).map(([code, example]) => {
    const { message, ...extra } = typeof example === 'string' ? { message: example } : example;
    return [code, errorBody(code as ErrorCode, message, extra)];
  });
  return answer(description, errorResponse, Object.fromEntries(examples), headers);
}

function jsonContent(schema: z.ZodType, examples: Examples) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, examples: Object.fromEntries(named) } };
}

export const BAD_REQUEST = 'The request is not valid HTTP: Parse Error: Invalid method encountered';
export const INVALID_VERSION = 'Version 0 is the draft: publish it and run the version that gives.';
export const INVALID_TREE = {
  message: "The published flow can't be run: steps[0].body: The body of a loop needs at least one step.",
  problems: [{ path: 'steps[0].body', message: 'The body of a loop needs at least one step.' }],
};
export const FLOW_NOT_FOUND =
  'There is no such flow for this caller, or the version asked for is not published.';

export const INTERNAL_ERROR = {
  message: INTERNAL_ERROR_MESSAGE,
  request_id: '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10',
};

/** What every endpoint may answer. */
export const ERRORS: ZodOpenApiResponsesObject = {
  401: {
    ...refusal('Missing or invalid API key or JWT.', {
      UNAUTHENTICATED: 'Send an API key (weir_live_…) or a JWT as Authorization: Bearer ….',
    }),
    // Nobody's quota is known yet.
    headers: undefined,
  },
  429: refusal(
    'The API key, the user or the organization is over its limit; too many large requests and answers are under way; or too many invalid keys and tokens came from this address.',
    { RATE_LIMITED: 'The API key is over its 60000 requests per minute: try again in 2 s.' },
    { 'Retry-After': retryAfter },
  ),
  408: {
    ...refusal('The request took too long to arrive.', { REQUEST_TIMEOUT: arrivedLate() }),
    headers: undefined,
  },
  431: {
    ...refusal('Over 16 KiB of headers.', { BAD_REQUEST: HEADERS_TOO_LARGE }),
    headers: undefined,
  },
  500: refusal('A fault of the service: `detail.request_id` finds it in the log.', {
    INTERNAL_ERROR,
  }),
  503: refusal(
    'Try again after `Retry-After`. What was to be changed may have been: look first.',
    { DATABASE_UNAVAILABLE, IDENTITY_PROVIDER_UNAVAILABLE },
    { 'Retry-After': retryAfter },
  ),
};

export const READ_ERRORS: ZodOpenApiResponsesObject = {
  ...ERRORS,
  400: refusal('Version 0 is the draft; the flow is no tree of steps; or the request is not sound HTTP.', {
    INVALID_VERSION,
    INVALID_TREE,
    BAD_REQUEST,
  }),
  404: refusal('Unknown, of another project, or not published.', {
    FLOW_NOT_FOUND,
    RUN_NOT_FOUND: 'This flow has no run with that executionId.',
  }),
};

/** Of what puts stored outputs together: of runs from before there was a limit. */
export const OUTPUT_TOO_LARGE = outputsTooLarge(18_874_368);

/** Of every endpoint. */
export const COMMON_ERRORS: ZodOpenApiResponsesObject = {
  ...ERRORS,
  400: refusal('The request is not sound HTTP.', { BAD_REQUEST }),
};

export const ORGANIZATION_ERRORS: ZodOpenApiResponsesObject = {
  ...COMMON_ERRORS,
  403: refusal('The caller is not a member of the organization, or lacks the role.', {
    FORBIDDEN: 'This needs a member of the organization.',
  }),
  404: refusal('What is in its place can be no organization’s id.', {
    NOT_FOUND: 'There is no such organization.',
  }),
};

export const DELIVERY_ERRORS: ZodOpenApiResponsesObject = {
  404: refusal('Unknown, or of another organization.', {
    NOT_FOUND: 'The organization has no such delivery.',
  }),
};

export const VALIDATION_ERRORS: ZodOpenApiResponsesObject = {
  422: refusal('`detail.errors` names each parameter.', {
    VALIDATION_ERROR: {
      message: 'limit: is a whole number from 1 to 200',
      errors: [{ field: 'limit', message: 'is a whole number from 1 to 200' }],
    },
  }),
};

/** What a JSON body may be refused for, by status. */
export const BODY_REFUSALS = {
  413: { BODY_TOO_LARGE: 'The body is over 10485760 bytes.' },
  415: { UNSUPPORTED_MEDIA_TYPE: 'Send the body as Content-Type: application/json, in UTF-8.' },
  422: {
    VALIDATION_ERROR: {
      message: 'message: is required; mesage: is not a known field',
      errors: [
        { field: 'message', message: 'is required' },
        { field: 'mesage', message: 'is not a known field' },
      ],
    },
    MALFORMED_JSON:
      "The body is not valid JSON: Expected ',' or '}' after property value in JSON at position 14 (line 1 column 15).",
  },
};

export const BODY_ERRORS: ZodOpenApiResponsesObject = {
  413: refusal('Over 10 MiB.', BODY_REFUSALS[413]),
  415: refusal('Not application/json in UTF-8.', BODY_REFUSALS[415]),
  422: refusal('`detail.errors` names each field.', BODY_REFUSALS[422]),
};

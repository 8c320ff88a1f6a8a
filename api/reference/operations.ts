// The parts that the OpenAPI entries of several endpoints share: paths, bodies, answers, and error answers.
import { z } from 'zod';
import type {
  ZodOpenApiRequestBodyObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { type ErrorCode, ServiceError } from '../../flow/errors.ts';
import { bearerToken, KEY_OR_TOKEN } from '../auth/authenticate.ts';
import { lacksRole } from '../auth/authorize.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from '../auth/identity-provider.ts';
import { overLimit } from '../auth/limit-rate.ts';
import { DATABASE_UNAVAILABLE, errorBody, INTERNAL_ERROR, OBJECT_STORE_UNAVAILABLE } from '../http/errors.ts';
import { etagHeader } from '../http/etag.ts';
import { errorResponse, idempotentReplayed, rateLimitHeaders, retryAfter } from '../http/headers.ts';
import { arrivedLate, HEADERS_TOO_LARGE, notHttp } from '../http/http-server.ts';
import { PARSE_OPTIONS, parseJson, validationError } from '../http/json-body.ts';
import { queryNumber } from '../http/query-fields.ts';
import { bodyTooLarge, requireJson } from '../http/receive-body.ts';

/** The path of a flow; the paths of its endpoints begin with it. */
export const FLOW_PATH = '/api/v1/seq/:org/:project/:flow';

/** The path of a run; the paths of its endpoints begin with it. A run knows its version, so the path has none. */
export const RUN_PATH = `${FLOW_PATH}/jobs/:executionId`;

/** Returns the unversioned and the versioned path of an endpoint of flows. */
export function flowPaths(suffix: string): { path: string; versioned: boolean }[] {
  return [
    { path: `${FLOW_PATH}${suffix}`, versioned: false },
    { path: `${FLOW_PATH}/v:version${suffix}`, versioned: true },
  ];
}

/** The path of an organization's webhooks. */
export const WEBHOOKS_PATH = '/api/v1/organizations/:org_id/webhooks';

/** Example values, by the name that the reference shows. */
type Examples = { [name: string]: unknown };

/** Describes a JSON request body. */
export function body(schema: z.ZodType, examples: Examples): ZodOpenApiRequestBodyObject {
  return { required: true, content: jsonContent(schema, examples) };
}

/** Describes a JSON request body that may be left out. */
export function optionalBody(schema: z.ZodType, examples: Examples): ZodOpenApiRequestBodyObject {
  return { ...body(schema, examples), required: false };
}

type Headers = { [name: string]: z.ZodType };

/** Describes a JSON answer to a caller who is known. */
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

/** Describes the answers of an endpoint that answers a page with `answerWithETag`. */
export function pageWithETag(description: string, schema: z.ZodType, examples: Examples) {
  const page = answer(description, schema, examples, etagHeader);
  return {
    200: page,
    304: notModified(page),
  };
}

/** Describes the 304 of an endpoint whose 200 is `ok`. */
export function notModified({ headers }: ZodOpenApiResponseObject): ZodOpenApiResponseObject {
  return { description: 'The answer has the ETag that was sent.', headers };
}

/** Describes the answer of an endpoint that starts a run. */
export function runAnswer(description: string, schema: z.ZodType, examples: Examples, headers: Headers = {}) {
  return answer(description, schema, examples, { 'Idempotent-Replayed': idempotentReplayed, ...headers });
}

type ErrorExample = string | { message: string; [field: string]: unknown };
/** Errors by code: a message, or a message with the further fields of the error. */
export type ErrorExamples = { [code in ErrorCode]?: ErrorExample };

/** Describes an error answer, with an example of each code. */
export function errorAnswer(
  description: string,
  codes: ErrorExamples,
  headers: Headers = {},
): ZodOpenApiResponseObject {
  const examples = Object.entries(codes).map(([code, example]) => {
    const { message, ...extra } = typeof example === 'string' ? { message: example } : example;
    return [code, errorBody(code as ErrorCode, message, extra)];
  });
  return answer(description, errorResponse, Object.fromEntries(examples), headers);
}

/** Makes examples of errors, so that the reference shows the very sentences that are thrown. */
export function examplesOf(...errors: ServiceError[]): ErrorExamples {
  return Object.fromEntries(errors.map(({ code, message, extra }) => [code, { message, ...extra }]));
}

/** Returns the error that `refuse` throws. */
export function thrownBy(refuse: () => unknown): ServiceError {
  try {
    refuse();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('An example of the API reference is not refused.');
}

function jsonContent(schema: z.ZodType, examples: Examples) {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return { 'application/json': { schema, examples: Object.fromEntries(named) } };
}

export const BAD_REQUEST = notHttp('Parse Error: Invalid method encountered');
export const INTERNAL_ERROR_EXAMPLE = {
  message: INTERNAL_ERROR,
  request_id: '1d9cbb4e-9d6c-4e3b-b1c8-5d3a4f2e7f10',
};

/** Makes the 422 for a value that does not fit a schema. */
function invalid(schema: z.ZodType, value: unknown): ServiceError {
  return validationError(schema.safeParse(value, PARSE_OPTIONS).error as z.ZodError);
}

/** The error answers that every endpoint may give. */
export const ERRORS: ZodOpenApiResponsesObject = {
  401: {
    id: 'Unauthorized',
    ...errorAnswer(
      'The API key or JWT is missing or not valid.',
      examplesOf(thrownBy(() => bearerToken('', KEY_OR_TOKEN))),
    ),
    // The caller is unknown and has no quota.
    headers: undefined,
  },
  429: {
    id: 'RateLimited',
    ...errorAnswer(
      'The API key, the user or the organization is over its rate limit, too many large requests and answers are under way, too many runs of the organization wait to start or are under way, it has too many requests open or waiting for each other, or too many invalid keys and tokens came from this address.',
      examplesOf(overLimit({ name: 'API key', perMinute: 60_000, retrySeconds: 2 })),
      { 'Retry-After': retryAfter },
    ),
  },
  408: {
    id: 'RequestTimeout',
    ...errorAnswer('The request took too long to arrive.', { REQUEST_TIMEOUT: arrivedLate() }),
    headers: undefined,
  },
  431: {
    id: 'HeadersTooLarge',
    ...errorAnswer('The headers have over 16 KiB.', { BAD_REQUEST: HEADERS_TOO_LARGE }),
    headers: undefined,
  },
  500: {
    id: 'InternalError',
    ...errorAnswer('A fault of the service: `detail.request_id` finds it in the log.', {
      INTERNAL_ERROR: INTERNAL_ERROR_EXAMPLE,
    }),
  },
  503: {
    id: 'Unavailable',
    ...errorAnswer(
      'Try again after `Retry-After`. The change may have been made: check before you repeat the request.',
      { DATABASE_UNAVAILABLE, OBJECT_STORE_UNAVAILABLE, IDENTITY_PROVIDER_UNAVAILABLE },
      { 'Retry-After': retryAfter },
    ),
  },
};

/** The error answers of every endpoint that takes no flow. */
export const COMMON_ERRORS: ZodOpenApiResponsesObject = {
  ...ERRORS,
  400: { id: 'BadRequest', ...errorAnswer('The request is not valid HTTP.', { BAD_REQUEST }) },
};

/** The error answers of endpoints about an organization that an API key may call. */
export const ORGANIZATION_ERRORS: ZodOpenApiResponsesObject = {
  ...COMMON_ERRORS,
  403: {
    id: 'NoAccessToOrganization',
    ...errorAnswer(
      'The caller is not a member of the organization, or their role is not enough, or their API key lacks the scope.',
      examplesOf(lacksRole('member')),
    ),
  },
  404: {
    id: 'MalformedOrganizationId',
    ...errorAnswer('The organization id is malformed.', examplesOf(organizationNotFound())),
  },
};

export const VALIDATION_ERRORS: ZodOpenApiResponsesObject = {
  422: {
    id: 'InvalidParameters',
    ...errorAnswer(
      '`detail.errors` names each parameter.',
      examplesOf(invalid(z.strictObject({ limit: queryNumber(1, 200) }), { limit: '0' })),
    ),
  },
};

/** The errors for a JSON body that is refused, by status. */
export const BODY_ERROR_EXAMPLES = {
  413: examplesOf(bodyTooLarge()),
  415: examplesOf(thrownBy(() => requireJson('text/plain', ''))),
  422: examplesOf(
    invalid(z.strictObject({ message: z.string() }), { mesage: 'rivers' }),
    thrownBy(() => parseJson(Buffer.from('{"message": "" "parameters": {}}'))),
  ),
};

export const BODY_ERRORS = {
  413: { id: 'BodyTooLarge', ...errorAnswer('The body has over 8 MiB.', BODY_ERROR_EXAMPLES[413]) },
  415: {
    id: 'UnsupportedMediaType',
    ...errorAnswer('The body is not application/json in UTF-8.', BODY_ERROR_EXAMPLES[415]),
  },
  422: { id: 'InvalidBody', ...errorAnswer('`detail.errors` names each field.', BODY_ERROR_EXAMPLES[422]) },
};

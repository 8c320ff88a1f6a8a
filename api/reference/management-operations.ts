// What the OpenAPI entries of the management API share.

import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { rateLimitHeaders } from '../http/headers.ts';
import { answer, COMMON_ERRORS, refusal } from './operations.ts';

export const ORGANIZATIONS_PATH = '/api/v1/organizations';
export const PROJECTS_PATH = '/api/v1/projects';

/** In place of the document's own: an API key is no way in. */
export const USERS_ONLY = [{ jwt: [] }];

/** Of endpoints about all that the caller can see. */
export const CALLER_ERRORS: ZodOpenApiResponsesObject = {
  ...COMMON_ERRORS,
  401: {
    ...refusal('Missing or invalid JWT; API keys are refused.', {
      UNAUTHENTICATED: 'This endpoint takes the JWT of a user, not an API key.',
    }),
    headers: undefined,
  },
};

/** Of endpoints about one organization, project, member or key. */
export const RESOURCE_ERRORS: ZodOpenApiResponsesObject = {
  ...CALLER_ERRORS,
  404: refusal('Unknown, or of an organization that the caller does not belong to.', {
    NOT_FOUND: 'There is no such organization.',
  }),
};

/** Where more than membership is asked for. */
export const ROLE_ERRORS: ZodOpenApiResponsesObject = {
  ...RESOURCE_ERRORS,
  403: refusal('The caller’s role is not enough.', {
    FORBIDDEN: 'This needs an admin or owner of the organization.',
  }),
};

export function conflict(description: string, message: string): ZodOpenApiResponsesObject {
  return { 409: refusal(description, { CONFLICT: message }) };
}

export const DELETION =
  'Its API keys stop working at once, and its slug can be used again. Runs, test runs and webhook deliveries under way are cancelled, runs that wait for their caller are ended; from the answer on nothing is charged for them.';

const deletion = z
  .object({
    id: z.uuid(),
    cancelled: z.object({
      runs: z.int().min(0).meta({
        description: 'Under way, or waiting for their caller; those of test cases are not counted.',
      }),
      testRuns: z.int().min(0),
      deliveries: z.int().min(0).meta({ description: 'Webhooks that were still to be delivered.' }),
    }),
  })
  .meta({ id: 'Deletion' });

/** The answer to a deletion that cancels what is under way. */
export function deleted(example: object): ZodOpenApiResponseObject {
  return answer('It is deleted; `cancelled` says how much was under way.', deletion, { deleted: example });
}

/** 204. */
export function done(description: string): ZodOpenApiResponseObject {
  return { description, headers: z.object(rateLimitHeaders) };
}

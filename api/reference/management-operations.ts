// The parts that the OpenAPI entries of the management API share.
import { z } from 'zod';
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { assistantNotFound } from '../../db/tenants/connected-assistants.ts';
import { organizationNotFound } from '../../db/tenants/organizations.ts';
import { projectNotFound } from '../../db/tenants/projects.ts';
import { keyRefused } from '../auth/authenticate.ts';
import { lacksRole } from '../auth/authorize.ts';
import { rateLimitHeaders } from '../http/headers.ts';
import { answer, COMMON_ERRORS, errorAnswer, examplesOf } from './operations.ts';

export const ORGANIZATIONS_PATH = '/api/v1/organizations';
export const PROJECTS_PATH = '/api/v1/projects';
export const FLOWS_PATH = `${PROJECTS_PATH}/:project_id/flows`;

/** Replaces the security scheme of the document: API keys are not accepted. */
export const USERS_ONLY = [{ jwt: [] }];

/** The error answers of endpoints about everything that the caller can see. */
export const CALLER_ERRORS: ZodOpenApiResponsesObject = {
  ...COMMON_ERRORS,
  401: {
    id: 'UserUnauthorized',
    ...errorAnswer('The JWT is missing or not valid, or an API key was sent.', examplesOf(keyRefused())),
    headers: undefined,
  },
};

/** The error answers of endpoints about one organization, project, member or key. */
export const RESOURCE_ERRORS: ZodOpenApiResponsesObject = {
  ...CALLER_ERRORS,
  404: {
    id: 'NotFoundInOrganization',
    ...errorAnswer(
      'The resource is unknown, or belongs to an organization that the caller is not a member of.',
      examplesOf(organizationNotFound()),
    ),
  },
};

/** The error answers of endpoints about what a project holds, which API keys may call too. */
export const PROJECT_ERRORS: ZodOpenApiResponsesObject = {
  ...COMMON_ERRORS,
  404: {
    id: 'NotFoundInProject',
    ...errorAnswer(
      'The resource is unknown, or belongs to a project that the caller cannot access.',
      examplesOf(projectNotFound()),
    ),
  },
};

/** The error answers of endpoints about one of the caller's assistants. */
export const ASSISTANT_ERRORS: ZodOpenApiResponsesObject = {
  ...CALLER_ERRORS,
  404: errorAnswer('The caller has no such connected assistant.', examplesOf(assistantNotFound())),
};

/** The error answers of endpoints that need more than membership. */
export const ROLE_ERRORS: ZodOpenApiResponsesObject = {
  ...RESOURCE_ERRORS,
  403: {
    id: 'InsufficientRole',
    ...errorAnswer('The caller’s role is not enough.', examplesOf(lacksRole('admin'))),
  },
};

export function conflict(description: string, message: string): ZodOpenApiResponsesObject {
  return { 409: errorAnswer(description, { CONFLICT: message }) };
}

export const DELETION =
  'Its API keys stop working at once, and its slug can be used again. Runs, test runs and webhook deliveries under way are cancelled, and runs that wait for their caller end. Nothing is charged for them after this answer.';

const deletion = z
  .object({
    id: z.uuid(),
    cancelled: z.object({
      runs: z.int().min(0).meta({
        description:
          'Runs that were under way or waited for their caller. Runs of test cases are not counted.',
      }),
      testRuns: z.int().min(0),
      deliveries: z.int().min(0).meta({ description: 'Webhooks not delivered yet.' }),
    }),
  })
  .meta({ id: 'Deletion' });

/** Describes the answer to a deletion, which cancels all work under way. */
export function deleted(example: object): ZodOpenApiResponseObject {
  return answer('It is deleted; `cancelled` says how much was under way.', deletion, { deleted: example });
}

/** Describes a 204. */
export function done(description: string): ZodOpenApiResponseObject {
  return { description, headers: z.object(rateLimitHeaders) };
}

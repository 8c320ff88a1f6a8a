// The error answers of the endpoints of runs, as the API reference shows them: examples are the errors that are thrown.
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { keyReused } from '../../db/runs/idempotency-keys.ts';
import { outputsTooLarge } from '../../db/stored-values/load-references.ts';
import { OUTPUTS_READ_MAX_BYTES } from '../../flow/limits.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from '../auth/identity-provider-keys.ts';
import { flowOfProjectNotFound } from '../flows/flow-of-path.ts';
import { serviceBusy } from '../http/admission.ts';
import { retryAfter } from '../http/headers.ts';
import { tooManyOpen } from '../http/open-requests.ts';
import { CHANGES_UNKNOWN, DATABASE_UNAVAILABLE, OBJECT_STORE_UNAVAILABLE } from '../http/to-service-error.ts';
import { incomplete } from '../reference/flow-examples.ts';
import { CHANGED } from '../reference/if-match.ts';
import {
  BAD_REQUEST,
  BODY_ERROR_EXAMPLES,
  BODY_ERRORS,
  ERRORS,
  type ErrorExamples,
  errorAnswer,
  examplesOf,
  INTERNAL_ERROR_EXAMPLE,
  thrownBy,
} from '../reference/operations.ts';
import {
  ATTACHMENT_ERROR_EXAMPLES,
  DNS_ERROR_EXAMPLE,
  REGISTRY_UNAVAILABLE,
} from './attachment-error-examples.ts';
import { requireParameterNames } from './calls/accept-run.ts';
import { flowNotFound, versionIsDraft } from './calls/load-flow.ts';
import { noCredits, suspended } from './calls/require-may-run.ts';
import { requireSoundTree } from './calls/require-sound-tree.ts';
import { runOfFlowNotFound } from './load-run.ts';
import type { RunTarget } from './run-paths.ts';

const EMPTY_LOOP = { type: 'loop' as const, step_id: 'each', name: 'Each', max_iterations: 10, body: [] };

/** The 400s of every endpoint that names a flow. */
const FLOW_ERROR_EXAMPLES = {
  ...examplesOf(
    versionIsDraft(),
    thrownBy(() => requireSoundTree({ steps: [EMPTY_LOOP] })),
  ),
  BAD_REQUEST,
};

/** The 413 of an answer that puts stored outputs together. */
export const OUTPUT_ERROR_EXAMPLE = examplesOf(outputsTooLarge(OUTPUTS_READ_MAX_BYTES + 1));

/** The errors of endpoints that read a run. */
export const READ_ERRORS: ZodOpenApiResponsesObject = {
  ...ERRORS,
  400: {
    id: 'InvalidFlow',
    ...errorAnswer(
      'Version 0 is the draft, the flow is not a tree of steps, or the request is not valid HTTP.',
      FLOW_ERROR_EXAMPLES,
    ),
  },
  404: {
    id: 'RunNotFound',
    ...errorAnswer(
      'The flow or run is unknown, belongs to another project, or is not published.',
      examplesOf(flowNotFound(), runOfFlowNotFound()),
    ),
  },
};

/** The errors of endpoints that may wait for a run. */
export const WAIT_ERRORS: ZodOpenApiResponsesObject = {
  ...READ_ERRORS,
  503: {
    id: 'UnavailableOrBusy',
    ...errorAnswer(
      'Try again after `Retry-After`.',
      {
        ...examplesOf(tooManyOpen()),
        DATABASE_UNAVAILABLE,
        OBJECT_STORE_UNAVAILABLE,
        IDENTITY_PROVIDER_UNAVAILABLE,
      },
      { 'Retry-After': retryAfter },
    ),
  },
};

/** The errors of starting or continuing runs while the organization may not. */
export const MAY_NOT_RUN: ZodOpenApiResponsesObject = {
  402: {
    id: 'InsufficientCredits',
    ...errorAnswer('The organization has no credits left.', examplesOf(noCredits())),
  },
  403: {
    id: 'MayNotRun',
    ...errorAnswer(
      'The operator has suspended the organization, or the API key has none of the scopes.',
      examplesOf(suspended('too many runs: write to support')),
    ),
  },
};

/** The errors of endpoints that start runs, by status; `more`: further errors of one endpoint. */
export function runErrors(
  more: { [status: number]: ErrorExamples | undefined } = {},
  target: RunTarget = 'production',
): ZodOpenApiResponsesObject {
  const isDraft = target === 'draft';
  return {
    ...ERRORS,
    400: errorAnswer('The request cannot be carried out, for the reason in `detail.code`.', {
      ...(isDraft ? { INVALID_TREE: incomplete, BAD_REQUEST } : FLOW_ERROR_EXAMPLES),
      ...examplesOf(thrownBy(() => requireParameterNames({ attachments: [] }))),
      ...ATTACHMENT_ERROR_EXAMPLES,
      ...more[400],
    }),
    ...MAY_NOT_RUN,
    404: errorAnswer('The flow is unknown, belongs to another project, or is not published.', {
      ...examplesOf(isDraft ? flowOfProjectNotFound() : flowNotFound('production')),
      ...more[404],
    }),
    ...(isDraft && CHANGED.draft),
    409: errorAnswer('The request conflicts with an earlier one, as `detail.code` says.', {
      ...examplesOf(keyReused()),
      ...more[409],
    }),
    ...BODY_ERRORS,
    ...(more[413] && {
      413: errorAnswer('The request or its answer is too large.', {
        ...BODY_ERROR_EXAMPLES[413],
        ...more[413],
      }),
    }),
    ...(more[422] && {
      422: errorAnswer('`detail.errors` names each field.', { ...BODY_ERROR_EXAMPLES[422], ...more[422] }),
    }),
    ...(more[500] && {
      500: errorAnswer('A fault of the service: `detail.request_id` finds it in the log.', {
        INTERNAL_ERROR: INTERNAL_ERROR_EXAMPLE,
        ...more[500],
      }),
    }),
    503: errorAnswer(
      'Try again later. If `detail.executionId` is there, the run is or may be accepted: ask for it before you send the request again.',
      {
        ...more[503],
        ...examplesOf(serviceBusy()),
        DATABASE_UNAVAILABLE: CHANGES_UNKNOWN,
        OBJECT_STORE_UNAVAILABLE,
        ...REGISTRY_UNAVAILABLE,
        ...DNS_ERROR_EXAMPLE,
        IDENTITY_PROVIDER_UNAVAILABLE,
      },
      { 'Retry-After': retryAfter },
    ),
  };
}

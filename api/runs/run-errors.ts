// The error answers of the endpoints of runs, as the API reference shows them: examples are the errors that are thrown.

import { z } from 'zod';
import type { ZodOpenApiResponsesObject } from 'zod-openapi';
import { keyReused } from '../../db/runs/idempotency-keys.ts';
import { outputsTooLarge } from '../../db/stored-values/load-references.ts';
import type { FlowDefinition } from '../../flow/definition.ts';
import { OUTPUTS_READ_MAX_BYTES, TOOL_MESSAGES_MAX_BYTES } from '../../flow/limits.ts';
import {
  notPaused,
  requireMatchingResults,
  requireToolSteps,
  type ToolCallMessage,
} from '../../flow/tool-calls.ts';
import { URL_MAX_LENGTH } from '../../platform/net/parse-https-url.ts';
import { IDENTITY_PROVIDER_UNAVAILABLE } from '../auth/identity-provider.ts';
import { flowOfProjectNotFound } from '../flows/flow-of-path.ts';
import { CHANGES_UNKNOWN, DATABASE_UNAVAILABLE, OBJECT_STORE_UNAVAILABLE } from '../http/errors.ts';
import { retryAfter } from '../http/headers.ts';
import { PARSE_OPTIONS } from '../http/json-body.ts';
import { tooManyOpen } from '../http/open-requests.ts';
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
import { firstStepRequest } from '../reference/run-examples.ts';
import { conversation, paused, toolsRequest } from '../reference/tool-call-examples.ts';
import { requireToolStep } from './calls/accept-resume.ts';
import { requireParameterNames } from './calls/accept-run.ts';
import { START_REJECTED } from './calls/admit.ts';
import {
  mimeIncompatible,
  noCredits,
  registryUnavailable,
  suspended,
  toolsUnsupported,
} from './calls/check-request.ts';
import { requireIterations } from './calls/check-resume.ts';
import { flowNotFound, requireSoundTree, runOfFlowNotFound, versionIsDraft } from './calls/load-flow.ts';
import { requireStepIndex } from './calls/require-fresh-tree.ts';
import { unknownState } from './calls/resume-state.ts';
import { sessionCancelled, sessionNotFound } from './calls/session.ts';
import type { RunTarget } from './run-paths.ts';
import { blockedHost, lookUpFailed, readAttachment, tooManyAttachments } from './run-shapes/attachments.ts';
import { toolFields } from './run-shapes/tool-fields.ts';
import { describeProblems, requireMessagesSize } from './run-shapes/tool-requests.ts';

const ASK = {
  step_id: 'ask',
  name: 'Ask',
  processor_type: 'llm',
  processor_config: { tools_enabled: true },
} as const;

const FLOW: FlowDefinition = { steps: [{ type: 'sequential', ...ASK }] };

const LOOP: FlowDefinition = {
  steps: [{ type: 'loop', step_id: 'each', name: 'Each', max_iterations: 10, body: FLOW.steps }],
};

const TWO_STEPS: FlowDefinition = {
  steps: [...FLOW.steps, { type: 'sequential', step_id: 'end', name: 'End', processor_type: 'passthrough' }],
};

const [TOOL] = toolsRequest.tools;
const MESSAGES = conversation as ToolCallMessage[];

const PAUSE = { executionId: paused.executionId, step_id: 'ask', iterations: 26 };

/** The error for malformed tools. */
const refusedTools = (tools: unknown[]) =>
  describeProblems(z.object(toolFields).safeParse({ tools }, PARSE_OPTIONS).error as z.ZodError);

/** The error for a step that cannot run. */
const refusedStep = (request: object, definition = TWO_STEPS) =>
  thrownBy(() => requireStepIndex(definition, { ...firstStepRequest, ...request }, false));

/** The errors of endpoints that take tools, by status. */
export const TOOL_ERROR_EXAMPLES = {
  400: examplesOf(
    refusedTools([TOOL, TOOL]),
    refusedTools([{ ...TOOL, function: { name: 'get weather' } }]),
    thrownBy(() => requireMatchingResults(MESSAGES, ['call_1'])),
    unknownState(),
  ),
  409: examplesOf(thrownBy(() => requireIterations(FLOW, {}, PAUSE, MESSAGES))),
  413: examplesOf(thrownBy(() => requireMessagesSize(TOOL_MESSAGES_MAX_BYTES + 1))),
  422: examplesOf(
    thrownBy(() => requireToolSteps({ steps: [] })),
    thrownBy(() => requireToolSteps(LOOP)),
  ),
  500: examplesOf(toolsUnsupported('ollama/llama2', 'ask')),
};

/** The errors of a resume of /execute. */
export const RESUME_ERROR_EXAMPLES = examplesOf(
  thrownBy(() => requireToolStep(FLOW, 'summarize')),
  notPaused(),
);

/** The errors of /step alone, by status. */
export const STEP_ERROR_EXAMPLES = {
  400: examplesOf(
    refusedStep({ message: undefined }),
    refusedStep({ stepIndex: 2 }),
    refusedStep({}, { steps: [] }),
    refusedStep({ accumulatedOutputs: { old: 1 } }),
  ),
  404: examplesOf(sessionNotFound()),
  409: examplesOf(sessionCancelled()),
};

const IMAGE = { kind: 'url', url: 'https://images.example/weir.png', mime_type: 'image/png' };
const refused = (change: object) => thrownBy(() => readAttachment({ ...IMAGE, ...change }, 0));

/** Examples of the 400s, by code. */
const ATTACHMENT_ERROR_EXAMPLES = examplesOf(
  tooManyAttachments(),
  refused({ kind: 'data' }),
  refused({ url: 'http://images.example/weir.png' }),
  refused({ url: `${IMAGE.url}?${'x'.repeat(URL_MAX_LENGTH)}` }),
  blockedHost(0, 'localhost is not at a public address'),
  refused({ mime_type: 'application/pdf' }),
  refused({ filename: '../weir.png' }),
  mimeIncompatible({ step_id: 'describe', model: 'demo/chat', mime_type: 'image/png', index: 0 }),
);

/** Example of a failed host lookup. */
const DNS_ERROR_EXAMPLE = examplesOf(
  lookUpFailed('attachments.0.url', 'images.example could not be looked up', { index: 0 }),
);

/** Example of a model list that is not loaded yet. */
const REGISTRY_UNAVAILABLE = examplesOf(registryUnavailable());

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
        SERVICE_BUSY: START_REJECTED.busy,
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

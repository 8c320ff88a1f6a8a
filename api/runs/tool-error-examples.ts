import { z } from 'zod';
import type { FlowDefinition } from '../../flow/definition.ts';
import { TOOL_MESSAGES_MAX_BYTES } from '../../flow/limits.ts';
import {
  notPaused,
  requireMatchingResults,
  requireToolSteps,
  type ToolCallMessage,
} from '../../flow/tool-calls.ts';
import { PARSE_OPTIONS } from '../http/json-body.ts';
import { examplesOf, thrownBy } from '../reference/operations.ts';
import { firstStepRequest } from '../reference/run-examples.ts';
import { conversation, paused, toolsRequest } from '../reference/tool-call-examples.ts';
import { requireToolStep } from './calls/accept-resume.ts';
import { sessionCancelled, sessionNotFound } from './calls/get-session.ts';
import { requireIterations } from './calls/require-iterations.ts';
import { requireStepIndex } from './calls/require-step-index.ts';
import { toolsUnsupported } from './calls/require-tools.ts';
import { unknownState } from './calls/resume-state.ts';
import { describeProblems, requireMessagesSize, toolFields } from './run-shapes/tool-requests.ts';

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

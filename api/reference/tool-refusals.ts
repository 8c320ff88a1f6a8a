// What the API reference shows of tool calls and steps that are refused (spec: Tool-call errors, /step errors).
import { conversation, stepPlan } from './run-examples.ts';

/** Of endpoints that take tools, by status. */
export const TOOL_REFUSALS = {
  400: {
    TOOLS_INVALID: {
      message: 'tools.1.function.name: get_weather is there twice',
      errors: [{ field: 'tools.1.function.name', message: 'get_weather is there twice' }],
    },
    TOOL_NAME_INVALID: {
      message: 'tools.0.function.name: is 1 to 64 letters, digits, hyphens and underscores',
      errors: [
        {
          field: 'tools.0.function.name',
          message: 'is 1 to 64 letters, digits, hyphens and underscores',
        },
      ],
    },
    TOOL_RESULTS_MISMATCH: {
      message:
        'Directly after its tool_calls, every id needs exactly one message {role: tool, tool_call_id, content}, no other id has one, and the conversation ends with the results of the last ones.',
      expected: ['call_1', 'call_2'],
      received: ['call_1'],
    },
    INVALID_RESUME: 'resumeState was not issued by this service.',
  },
  409: {
    TOOL_ITERATION_LIMIT: {
      message:
        'The block ask has used 25 tool-call round-trips; its processor_config.max_tool_iterations is 25.',
      step_id: 'ask',
      iterations_used: 25,
      cap: 25,
      messages: conversation,
    },
  },
  413: { MESSAGES_TOO_LARGE: 'toolCallMessages have 1048577 bytes; at most 1048576 are taken.' },
  422: {
    TOOLS_NOT_ENABLED:
      'No block of this flow has processor_config.tools_enabled: enable it on one, or leave tools out.',
    TOOLS_IN_NON_SEQUENTIAL_STEP: {
      message: 'The block ask calls tools inside a parallel or loop step: only a sequential step can.',
      step_id: 'ask',
    },
  },
  500: {
    MODEL_TOOLS_UNSUPPORTED: {
      message: 'The model ollama/llama2 of the block ask does not support tool calling: choose another one.',
      step_id: 'ask',
      model: 'ollama/llama2',
    },
  },
};

/** Of a resume of /execute. */
export const RESUME_REFUSALS = {
  PAUSED_STEP_INVALID: {
    message: 'pausedAtStep is no block of this flow that calls tools: echo what the pause answered.',
    valid_steps: ['ask'],
  },
  EXECUTION_ID_INVALID:
    'executionId is no run of this flow that waits for tool results at this step: echo what the pause answered.',
};

/** Of /step alone, by status. */
export const STEP_REFUSALS = {
  400: {
    MISSING_MESSAGE: 'The step with index 0 needs a message.',
    INVALID_STEP_INDEX: 'stepIndex is from 0 to 2 in this flow.',
    NO_STEPS: 'The flow has no steps: it passes its message through, see …/execute.',
    STALE_TREE: {
      message: 'The flow has no step "old": it was published anew. Start a new session with detail.steps.',
      steps: stepPlan,
    },
  },
  404: { RUN_NOT_FOUND: 'This flow has no step-through session with that executionId.' },
  409: { CONFLICT: 'The session was cancelled: begin a new one, or fork it.' },
};

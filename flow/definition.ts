// flow/ is the flow language, pure and without effects: definitions, plans, the interpreter, templates, tool calls, values,
// errors. The API and the workflow sandbox both load it. Here: a flow is a tree of steps over blocks (docs/concepts.md).

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A JSON Schema (2020-12) as a user wrote it; enforced outside workflow code. */
export type JsonSchema = boolean | { [key: string]: Json };

export const PROCESSOR_TYPES = ['llm', 'passthrough', 'code'] as const;
export type ProcessorType = (typeof PROCESSOR_TYPES)[number];

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** The APIs of OpenAI that a block can choose between. */
export const OPENAI_APIS = ['openai-chat', 'openai-responses'] as const;

export const PROMPT_CACHES = ['5m', '1h', 'off'] as const;

export const ON_LENGTH = ['fail', 'accept'] as const;
type OnLength = (typeof ON_LENGTH)[number];

type ExampleMessage = { role: 'user' | 'assistant'; content: string };

/** Limits and switches of one block; every field is optional. */
type ProcessorConfig = {
  /** The block takes part in tool calls. */
  tools_enabled?: boolean;
  /** Tool-call round-trips allowed for this block; 25 when absent. */
  max_tool_iterations?: number;
  /** llm: sampling temperature, 0–2. */
  temperature?: number;
  /** llm: most tokens the model may answer with; when absent, as many as the model can. */
  max_tokens?: number;
  /** llm: what an answer does that was cut off at its token limit: it fails the block, or its text is the output. */
  on_length?: OnLength;
  /** Time limit in milliseconds. llm: of one request to the model; code: of processor time. */
  timeout_ms?: number;
  /** llm: how often a request that the provider refused is repeated. */
  max_retries?: number;
  /** llm: a system message, sent as it is before the prompt. */
  system?: string;
  /** llm: examples and earlier turns, sent as they are between the system message and the prompt. */
  messages?: ExampleMessage[];
  /** llm: sent to the model as they are. */
  top_p?: number;
  stop?: string | string[];
  seed?: number;
  reasoning_effort?: ReasoningEffort;
  /** llm: the API to call at a provider that has both; when absent as the provider is configured. */
  api?: (typeof OPENAI_APIS)[number];
  /** llm: how long a provider keeps the start of the prompt, where it wants a hint; 5 minutes when absent. */
  prompt_cache?: (typeof PROMPT_CACHES)[number];
};

/** One processing step. `prompt` is the model's prompt (llm) or the JavaScript source (code). */
export type Block = {
  step_id: string;
  name: string;
  processor_type: ProcessorType;
  /** Provider-prefixed, e.g. `openai/gpt-5-mini`; required for llm. */
  model?: string;
  prompt?: string;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
  processor_config?: ProcessorConfig;
};

/** One block; its output is the step's output. */
export type SequentialStep = Block & { type: 'sequential' };

/** Branches that run concurrently on the same input; the output is an object keyed by branch. */
export type ParallelStep = {
  type: 'parallel';
  step_id: string;
  name: string;
  branches: { [branch: string]: Step[] };
};

/** When an `until` loop stops: the value at `pointer` (RFC 6901) in the body's output equals `equals`. */
export type LoopCondition = { pointer: string; equals: Json };

/**
 * Runs its body in turn, over each item of the input array, or, with `until`, on its own output until the
 * condition holds or `max_iterations` is reached. The output is the array of the body's outputs.
 */
export type LoopStep = {
  type: 'loop';
  step_id: string;
  name: string;
  body: Step[];
  /** An input array longer than this fails the run. */
  max_iterations: number;
  until?: LoopCondition;
};

export type Step = SequentialStep | ParallelStep | LoopStep;

/** The content of a version. A flow without steps returns its message. */
export type FlowDefinition = { steps: Step[] };

/** The draft is version 0; a published version is an integer from 1 and never changes. */
export const DRAFT_VERSION = 0;

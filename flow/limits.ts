// The limits of the flow language, enforced by `find-tree-problems.ts`, `api/flows/written-flow.ts` and, at run time, the
// interpreter; those of requests and runs; and how often what failed is repeated.

/** Control characters for terminals, except line feeds and tabs, and bidirectional controls. */
export const CONTROL_CHARACTERS = /[[\p{Cc}--[\n\t]][\u202a-\u202e\u2066-\u2069]]/gv;

export const STEP_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;
/** The form of every id that the service makes. */
export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Slugs of organizations, projects and flows: lower-case words joined by single hyphens. */
export const SLUG_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const SLUG_MAX_LENGTH = 64;
export const NAME_MAX_LENGTH = 200;
/** The largest number of a version that the database can hold. */
export const VERSION_MAX = 2 ** 31 - 1;
/** Blocks, parallel and loop steps of one flow together. */
export const FLOW_STEPS_MAX = 200;
/** Nesting of parallel and loop steps. */
export const STEP_DEPTH_MAX = 8;
export const BRANCHES_MAX = 32;
export const LOOP_ITERATIONS_MAX = 1000;
export const LOOP_ITERATIONS_DEFAULT = 100;
/** Flow files of one `weir flow push`. */
export const FLOW_FILES_MAX = 1_000;
/** A loop's `until` as JSON: it is part of a workflow's input, which the engine refuses when it is large. */
export const CONDITION_MAX_LENGTH = 1_000;
/** Block executions of one call of a run, those in loops included; keeps a history far below the engine's limit. */
export const BLOCK_RUNS_MAX = 2000;
/** Nesting of arrays and objects in what callers send and models answer; that of code is in `activities/code/limits.ts`. */
export const JSON_DEPTH_MAX = 64;
/**
 * Maximum size, as JSON, of the output of a block, loop, parallel step or run, and of all outputs before a pause together.
 * A caller who continues a paused run sends them back in one request.
 */
export const OUTPUT_MAX_BYTES = 4 * 1024 * 1024;
/** Stored outputs that are read at once. */
export const OUTPUTS_READ_MAX_BYTES = 8 * 1024 * 1024;
export const PROMPT_MAX_BYTES = 256 * 1024;
/** A prompt with its variables filled in, together with everything else that one model call sends. */
export const RENDERED_PROMPT_MAX_CHARS = 4 * 1024 * 1024;
/** The longest text that the trace keeps of a model's last answer. */
export const LAST_ANSWER_MAX_CHARS = 16_384;
/** The most that a block may set as max_tokens. */
export const ANSWER_TOKENS_MAX = 10_000_000;
export const SCHEMA_MAX_BYTES = 64 * 1024;
/** The time that one request to a model may take. */
export const MODEL_TIMEOUT_DEFAULT_MS = 10 * 60_000;
export const MODEL_TIMEOUT_MAX_MS = 60 * 60_000;
/** How often a request that the provider refused is repeated: at most, and by default while the caller waits for the answer. */
export const MODEL_RETRIES_MAX = 7;
export const MODEL_RETRIES_AWAITED = 3;
export const CODE_TIMEOUT_DEFAULT_MS = 5_000;
export const CODE_TIMEOUT_MAX_MS = 30_000;
export const MAX_TOOL_ITERATIONS_DEFAULT = 25;
export const MAX_TOOL_ITERATIONS_MAX = 100;
export const TOOLS_MAX = 64;
/** All tools of a request, serialized. Callers send them again with each resume. */
export const TOOLS_MAX_BYTES = 1.75 * 1024 * 1024;
export const TOOL_NAME_PATTERN = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
export const TOOL_DESCRIPTION_MAX_LENGTH = 4096;
/** Serialized. */
export const TOOL_PARAMETERS_MAX_BYTES = 16 * 1024;
export const TOOL_RESULT_MAX_BYTES = 256 * 1024;
/** toolCallMessages, serialized. */
export const TOOL_MESSAGES_MAX_BYTES = 1024 * 1024;

/** About a day with a minute between attempts: a failure for the service's own reasons is repeated for that long. */
export const ATTEMPTS_OF_A_DAY = 1_500;
/** Such a failure is repeated after this time, which doubles with each attempt, up to a minute. */
export const RETRY_MIN_MS = 200;
export const RETRY_MAX_MS = 60_000;

/** How long a key is kept; afterwards it starts a new run. */
export const IDEMPOTENCY_KEY_HOURS = 24;

/** Messages in processor_config.messages; together they may have as many bytes as a prompt. */
export const EXAMPLE_MESSAGES_MAX = 100;

// What the codes of errors mean and what to do, as docs/reference.md shows it.
import type { ErrorCode } from '../../flow/errors.ts';

/** `where`: the requests and runs that a code is answered for. */
type Help = { where: string; meaning: string; action: string };

const RUN_START = 'start of a run';
const RESUME = 'resume';
const STEP = '`/step`';
/** The place of codes that no request is rejected with. */
export const FAILED_RUN = 'failed run';
const ANY = 'any request';

/** Help for each code, in the order of statuses. */
export const ERROR_HELP: { [code in ErrorCode]: Help } = {
  BAD_REQUEST: {
    where: ANY,
    meaning:
      'The request is not valid HTTP, or could be read in two ways: two headers `Host`, `Authorization` or `Content-Type`. With status 431: the headers are too large.',
    action: 'Correct the client.',
  },
  INVALID_TREE: {
    where: `${RUN_START}, publish, flow files, ${FAILED_RUN}`,
    meaning:
      'The tree of steps is wrong, or a JSON Schema in it cannot be used. `detail.problems` lists what.',
    action: 'Correct the flow and publish it again.',
  },
  INVALID_VERSION: {
    where: 'runs',
    meaning: 'The request names version 0, which is the draft, or repeats a run of a draft.',
    action: 'Publish the draft and run the version, or use the endpoints of the draft.',
  },
  PARAMETER_NAME_RESERVED: {
    where: RUN_START,
    meaning: 'A key of `parameters` is reserved.',
    action: 'Give the parameter another name.',
  },
  ATTACHMENT_LIMIT_EXCEEDED: {
    where: RUN_START,
    meaning: 'The request has too many attachments.',
    action: 'Send fewer.',
  },
  ATTACHMENT_UNSUPPORTED_KIND: {
    where: RUN_START,
    meaning: 'An attachment is not given by URL.',
    action: 'Send `kind: url`.',
  },
  ATTACHMENT_INVALID_SCHEME: {
    where: RUN_START,
    meaning: 'The URL of an attachment does not begin with `https://`.',
    action: 'Send an https URL.',
  },
  ATTACHMENT_BLOCKED_HOST: {
    where: RUN_START,
    meaning: 'The host of an attachment has no public address.',
    action: 'Serve the image at a public address.',
  },
  ATTACHMENT_URL_TOO_LONG: {
    where: RUN_START,
    meaning: 'The URL of an attachment is too long.',
    action: 'Send a shorter URL.',
  },
  ATTACHMENT_UNSUPPORTED_MIME: {
    where: RUN_START,
    meaning: 'The `mime_type` of an attachment is not that of a supported image.',
    action: 'Send JPEG, PNG, WebP or GIF.',
  },
  ATTACHMENT_INVALID_FILENAME: {
    where: RUN_START,
    meaning: 'The `filename` of an attachment is too long or is a path.',
    action: 'Send a plain name.',
  },
  MODEL_MIME_INCOMPATIBLE: {
    where: RUN_START,
    meaning: 'A model of the flow does not take the images of the request.',
    action: 'Choose another model or another type of image.',
  },
  TOOLS_INVALID: {
    where: `${RUN_START}, ${RESUME}`,
    meaning:
      '`tools`, `toolChoice` or `toolCallMessages` do not have the right shape, or the `parameters` of a tool are not a JSON Schema. `detail.errors` names each field.',
    action: 'Correct the fields.',
  },
  TOOL_NAME_INVALID: {
    where: `${RUN_START}, ${RESUME}`,
    meaning: 'The name of a tool has other characters than letters, digits, `_` and `-`, or is too long.',
    action: 'Rename the tool.',
  },
  TOOL_RESULTS_MISMATCH: {
    where: RESUME,
    meaning:
      'The results do not match the tool calls that the model made. `detail.expected` lists their ids.',
    action: 'Send one result for each id.',
  },
  PAUSED_STEP_INVALID: {
    where: RESUME,
    meaning: '`pausedAtStep` is not a block of the flow that calls tools. `detail.valid_steps` lists them.',
    action: 'Send back the whole pause.',
  },
  EXECUTION_ID_INVALID: {
    where: RESUME,
    meaning: '`executionId` is not a run that waits for tool results at this step.',
    action: 'Send back the whole pause.',
  },
  INVALID_RESUME: {
    where: RESUME,
    meaning: '`resumeState` was not issued by this service, or has expired.',
    action: 'Send back the whole pause, or start a new run.',
  },
  MISSING_MESSAGE: {
    where: STEP,
    meaning: 'Step 0 has no `message`.',
    action: 'Send a `message`.',
  },
  INVALID_STEP_INDEX: {
    where: STEP,
    meaning: '`stepIndex` is not the index of a step.',
    action: 'Send the `nextStepIndex` of the call before.',
  },
  NO_STEPS: {
    where: STEP,
    meaning: 'The flow has no steps.',
    action: 'Use `/execute`.',
  },
  STALE_TREE: {
    where: STEP,
    meaning:
      'The session names a step that this version of the flow does not have. `detail.steps` has the steps.',
    action: 'Start a new session, and pin its version.',
  },
  UNAUTHENTICATED: {
    where: ANY,
    meaning:
      'The API key or token is missing or not valid. The answer never says why; the log of the service does.',
    action: 'Send a valid key or token.',
  },
  INSUFFICIENT_CREDITS: {
    where: `${RUN_START}, ${FAILED_RUN}`,
    meaning: 'The balance of the organization does not cover the run or its next block.',
    action: 'Have credits granted.',
  },
  MAX_CREDITS_REACHED: {
    where: FAILED_RUN,
    meaning: '`maxCredits` of the run does not cover the next block.',
    action: 'Allow more, or choose a cheaper model.',
  },
  FORBIDDEN: {
    where: ANY,
    meaning:
      'The role of the user or the scopes of the key do not allow the request, or an operator has suspended the organization. A suspended organization can read, but not start or continue runs.',
    action: 'See the message.',
  },
  NOT_FOUND: {
    where: ANY,
    meaning: 'The path or resource does not exist, or the caller may not see it.',
    action: 'Check the path and the ids.',
  },
  FLOW_NOT_FOUND: {
    where: 'runs',
    meaning:
      'The slugs or the version are wrong, the flow has no production version, or the caller does not belong to its organization.',
    action: 'Check the slugs, and that the flow is published.',
  },
  RUN_NOT_FOUND: {
    where: 'runs',
    meaning: 'The flow has no run, session or call with this id.',
    action: 'Check the id.',
  },
  METHOD_NOT_ALLOWED: {
    where: ANY,
    meaning: 'The path does not accept the method.',
    action: 'Use a method of the header `Allow`.',
  },
  TOOLS_REQUIRE_SYNC_EXECUTE: {
    where: '`/jobs`',
    meaning: 'A job has no caller that sends tool results.',
    action: 'Use `/execute` or `/step`.',
  },
  REQUEST_TIMEOUT: {
    where: ANY,
    meaning: 'The request took too long to arrive.',
    action: 'Send it again.',
  },
  CONFLICT: {
    where: ANY,
    meaning:
      'The state of the resource does not allow the request, or an organization or flow has reached a limit.',
    action: 'See the message.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    where: 'POST',
    meaning: 'The `Idempotency-Key` was used with another request.',
    action: 'Send a new key with each new request.',
  },
  TOOL_ITERATION_LIMIT: {
    where: RESUME,
    meaning: 'The block has used its tool-call round-trips, and its model requests another.',
    action: 'Start a new run, or allow more round-trips in the flow.',
  },
  PRECONDITION_FAILED: {
    where: 'writes with `If-Match`',
    meaning: 'The resource has changed. `detail.etag` is its ETag.',
    action: 'Read it again, then repeat the change.',
  },
  BODY_TOO_LARGE: {
    where: ANY,
    meaning: 'The body is too large, or the outputs for a retry or fork do not fit into a request.',
    action: 'Send less.',
  },
  MESSAGES_TOO_LARGE: {
    where: `${RESUME}, ${FAILED_RUN}`,
    meaning:
      'The conversation with a model is too large. This error comes before all others of a resume, except those of the body as a whole.',
    action: 'Send shorter results.',
  },
  OUTPUT_TOO_LARGE: {
    where: `reads of runs, ${FAILED_RUN}`,
    meaning: 'An output, or several outputs together, are too large.',
    action: 'Return less from the block.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    where: ANY,
    meaning: 'The body is not `application/json` in UTF-8, or has a `Content-Encoding`.',
    action: 'Send plain JSON.',
  },
  VALIDATION_ERROR: {
    where: ANY,
    meaning: 'A field or a parameter is wrong, unknown or without effect. `detail.errors` names each.',
    action: 'Correct the fields.',
  },
  MALFORMED_JSON: {
    where: ANY,
    meaning: 'The body is not valid JSON.',
    action: 'Correct the client.',
  },
  TOOLS_NOT_ENABLED: {
    where: `${RUN_START}, ${RESUME}`,
    meaning: 'The request has tools, and no block of the flow calls tools.',
    action: 'Set `tools_enabled` in a block, or send no tools.',
  },
  TOOLS_IN_NON_SEQUENTIAL_STEP: {
    where: `${RUN_START}, ${FAILED_RUN}`,
    meaning: 'A block inside a loop or a parallel step cannot call tools.',
    action: 'Move the block to the top level of the flow.',
  },
  SCHEMA_INVALID: {
    where: `${RUN_START}, ${FAILED_RUN}`,
    meaning: 'A JSON Schema cannot be used, or takes too long.',
    action: 'Correct the schema and publish the flow again.',
  },
  PRECONDITION_REQUIRED: {
    where: 'replacement of a draft',
    meaning: 'The header `If-Match` is missing.',
    action: 'Send the ETag of the draft that you have read.',
  },
  RATE_LIMITED: {
    where: ANY,
    meaning:
      'The key, the user or the organization has reached a limit of its own. With an `executionId`, the run may be stored.',
    action: 'Wait as `Retry-After` says. With an `executionId`, ask for that run first.',
  },
  INTERNAL_ERROR: {
    where: `${ANY}, ${FAILED_RUN}`,
    meaning: 'A fault of the service. The log has the cause beside `detail.request_id` or the reference.',
    action: 'Give the operator the reference.',
  },
  MODEL_TOOLS_UNSUPPORTED: {
    where: `${RUN_START}, ${FAILED_RUN}`,
    meaning: 'The model of a block takes no tools.',
    action: 'Choose another model.',
  },
  INPUT_SCHEMA_MISMATCH: {
    where: FAILED_RUN,
    meaning: 'The input of a block does not match its `inputSchema`, or took too long to check.',
    action: 'Change the input or the schema.',
  },
  OUTPUT_SCHEMA_MISMATCH: {
    where: FAILED_RUN,
    meaning: 'The output of a block does not match its `outputSchema`, or took too long to check.',
    action: 'Change the block or the schema.',
  },
  CODE_ERROR: {
    where: FAILED_RUN,
    meaning: 'The code of a block threw an error.',
    action: 'See the line that the message names.',
  },
  CODE_TIMEOUT: {
    where: FAILED_RUN,
    meaning: 'The code used more processor time than its `timeout_ms`.',
    action: 'Do less work in one block, or allow more time.',
  },
  CODE_LIMIT_EXCEEDED: {
    where: FAILED_RUN,
    meaning: 'The code has too much source, input or memory, or crashed its process three times.',
    action: 'Do less work in one block.',
  },
  PROMPT_TOO_LARGE: {
    where: FAILED_RUN,
    meaning: 'A prompt with its variables filled in is too large, here or at the provider.',
    action: 'Send less to the block.',
  },
  MODEL_NOT_CONFIGURED: {
    where: FAILED_RUN,
    meaning:
      'The model is unknown, its provider has no key here, or the provider answers with a redirect, which is not followed.',
    action: 'Choose another model, or add a key.',
  },
  MODEL_UNAVAILABLE: {
    where: FAILED_RUN,
    meaning: 'The provider rejected or failed every attempt.',
    action: 'Retry the run later.',
  },
  MODEL_REFUSED: {
    where: FAILED_RUN,
    meaning: 'The model, or a content filter, refused to answer.',
    action: 'Change the prompt.',
  },
  MODEL_NOT_FOUND: {
    where: FAILED_RUN,
    meaning: 'The provider does not know the model, or the key may not use it.',
    action: 'Correct the name of the model, or the base URL of the provider.',
  },
  MODEL_SCHEMA_REFUSED: {
    where: FAILED_RUN,
    meaning: 'The provider does not take the `parameters` of a tool.',
    action: 'Use simpler keywords.',
  },
  MODEL_QUOTA_EXCEEDED: {
    where: FAILED_RUN,
    meaning: 'The quota or balance of the key at its provider is used up.',
    action: 'Pay the provider, or send another key.',
  },
  MODEL_REQUEST_INVALID: {
    where: FAILED_RUN,
    meaning: 'The provider rejected the request for another reason, which the message quotes.',
    action: 'Change the settings of the block.',
  },
  MODEL_OUTPUT_INVALID: {
    where: FAILED_RUN,
    meaning: 'The answer of the model cannot be used.',
    action: 'Change the prompt or the schema.',
  },
  MODEL_OUTPUT_INCOMPLETE: {
    where: FAILED_RUN,
    meaning: 'The answer of the model is empty, or was broken off: at its token limit, or by its provider.',
    action: 'Raise `max_tokens`, ask for less, or retry the run.',
  },
  MODEL_KEY_REJECTED: {
    where: FAILED_RUN,
    meaning: "The provider rejected the service's own key.",
    action: 'Give the operator the reference.',
  },
  BYOK_REJECTED: {
    where: FAILED_RUN,
    meaning: 'The provider rejected your own key.',
    action: 'Send or store a valid key.',
  },
  LOOP_INPUT_NOT_ARRAY: {
    where: FAILED_RUN,
    meaning: 'The input of a loop over items is not an array.',
    action: 'Change the block before the loop.',
  },
  LOOP_LIMIT_EXCEEDED: {
    where: FAILED_RUN,
    meaning: 'A loop has more items than iterations, or the run executes too many blocks.',
    action: 'Send fewer items, or allow more iterations.',
  },
  CANCELLED: {
    where: FAILED_RUN,
    meaning: 'Somebody cancelled the run, or deleted its project.',
    action: 'Start another run.',
  },
  ENGINE_UNAVAILABLE: {
    where: '`/execute`, `/step`',
    meaning: 'The run is stored and starts when the engine is back.',
    action:
      'Poll the run, or repeat the request with its `Idempotency-Key`. Without one, the request is another run.',
  },
  SERVICE_BUSY: {
    where: RUN_START,
    meaning:
      'All organizations together have reached a limit of the service, or no thread is free to check a schema. Nothing is stored.',
    action: 'Send the request again after `Retry-After`.',
  },
  SERVICE_STOPPING: {
    where: '`/execute`, requests that wait',
    meaning: 'The process stops. With an `executionId` the run continues; without one nothing is stored.',
    action: 'Poll the run, or send the request again.',
  },
  DATABASE_UNAVAILABLE: {
    where: ANY,
    meaning:
      'The database does not answer or takes no writes. The answer comes within 6 s. With an `executionId`, the run may be stored.',
    action: 'With an `executionId`, ask for that run first. Otherwise send the request again.',
  },
  OBJECT_STORE_UNAVAILABLE: {
    where: 'requests that need a large value',
    meaning: 'A large request or output cannot be read at the moment. A run waits for it.',
    action: 'Send the request again.',
  },
  DNS_UNAVAILABLE: {
    where: RUN_START,
    meaning: 'The host of an attachment or a `callbackUrl` could not be looked up. Nothing is stored.',
    action: 'Send the request again.',
  },
  CAPABILITY_REGISTRY_UNAVAILABLE: {
    where: 'start of a run with attachments',
    meaning: 'The model list has not been read yet.',
    action: 'Send the request again.',
  },
  IDENTITY_PROVIDER_UNAVAILABLE: {
    where: 'any request with a token',
    meaning: 'The identity provider does not answer, so the token cannot be checked.',
    action: 'Send the request again, or use an API key.',
  },
};

// The limits of the service as docs/reference.md shows them, with the values of the constants that enforce them.
import { maxHeaderSize } from 'node:http';
import {
  INPUT_MAX_BYTES as CODE_INPUT_MAX_BYTES,
  MEMORY_MAX_BYTES as CODE_MEMORY_MAX_BYTES,
  LOG_LIMITS,
  SOURCE_MAX_BYTES,
} from '../../activities/code/limits.ts';
import { TEXT_MAX_CHARS as ANSWER_TEXT_MAX_CHARS } from '../../activities/deliveries/attempt-delivery.ts';
import { HOST_MAX, ORGANIZATION_MAX, PAIR_MAX } from '../../activities/deliveries/delivery-gate.ts';
import { DELIVERY_BODY_MAX_BYTES } from '../../activities/deliveries/delivery-request.ts';
import {
  ORGANIZATION_LISTENERS_MAX,
  PROCESS_LISTENERS_MAX,
} from '../../activities/deliveries/webhook-listeners.ts';
import { ERROR_BODY_MAX_BYTES, MODEL_ANSWER_MAX_BYTES } from '../../activities/model/fetch-answer.ts';
import { ANSWER_TOOL_CALLS_MAX } from '../../activities/model/read-tool-calls.ts';
import { RETRY_AFTER_MAX_MS } from '../../activities/model/retry-after.ts';
import { QUERY_TIMEOUT_MS } from '../../db/connect.ts';
import { CONNECTION_TIMEOUT_MS } from '../../db/connection/retrying-pool.ts';
import { FLOWS_MAX } from '../../db/flows/flows.ts';
import { VERSIONS_MAX, VERSIONS_MAX_BYTES } from '../../db/flows/versions.ts';
import { SESSION_BLOCKS_MAX } from '../../db/runs/insert-calls.ts';
import {
  LOOKED_THROUGH_MAX,
  BLOCKS_MAX as PAGE_BLOCKS_MAX,
  SEARCHED_MAX,
  SEARCHED_REQUEST_MAX_BYTES,
} from '../../db/runs/list-runs.ts';
import { LOOKED_AT_MAX } from '../../db/runs/stuck-calls.ts';
import { ACTIVE_API_KEYS_MAX } from '../../db/tenants/api-keys.ts';
import { INVITATIONS_MAX, VALID_DAYS } from '../../db/tenants/invitations.ts';
import { ORGANIZATIONS_OWNED_MAX } from '../../db/tenants/memberships.ts';
import { PROJECTS_MAX } from '../../db/tenants/projects.ts';
import { TEST_RUNS_UNDER_WAY_MAX } from '../../db/test-runs/test-runs.ts';
import { ROUNDS_KEPT } from '../../db/webhooks/open-deliveries.ts';
import { CREDITS_MAX } from '../../flow/credit-amount.ts';
import { ATTEMPTS_MAX, RETRY_DELAYS_MS } from '../../flow/delivery.ts';
import * as flow from '../../flow/limits.ts';
import { IDEMPOTENCY_KEY_HOURS } from '../../flow/limits.ts';
import { TEST_CASES_MAX, TEST_CASES_MAX_BYTES } from '../../flow/test-case.ts';
import { FILE_MAX_BYTES } from '../../platform/config/read-environment.ts';
import {
  SCHEMA_CHECK_STEPS_MAX,
  SCHEMA_DEPTH_MAX,
  SCHEMA_NODES_MAX,
  SLOW_SCHEMA_MS,
  VALIDATION_MAX_MS,
} from '../../platform/json-schema/limits.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX, mostOf } from '../../platform/json-text/measure-json.ts';
import { LARGE_JSON_BYTES } from '../../platform/large-values/large-json.ts';
import {
  REQUEST_BYTES,
  REQUEST_BYTES_EACH,
  REQUEST_BYTES_WAIT_MS,
  REQUEST_WAIT_MAX_MS,
  SMALL_BYTES,
  START_WAIT_MAX_MS,
  STARTS_QUEUED_EACH_MAX,
  STARTS_QUEUED_MAX,
} from '../../platform/limits/gates.ts';
import { CHARACTERS_PER_TOKEN_MAX } from '../../platform/models/prompt-size.ts';
import { CONNECT_TIMEOUT_MS, TOTAL_TIMEOUT_MS } from '../../platform/net/guarded-post.ts';
import { URL_MAX_LENGTH } from '../../platform/net/parse-https-url.ts';
import { PUT_MAX_MS, SIGNED_SECONDS } from '../../platform/object-store/s3-store.ts';
import { KEPT_MS } from '../auth/identity-provider.ts';
import { EMAIL_MAX_CHARS, USER_ID_MAX_LENGTH } from '../auth/user-identifiers.ts';
import { CLOCK_TOLERANCE_SECONDS, NAME_MAX_CHARS } from '../auth/verify-token.ts';
import { METADATA_MAX, PAYLOADS_MAX } from '../codec/codec-routes.ts';
import { FLOW_FILE_MAX_BYTES } from '../flows/flow-file.ts';
import { DISCARD_MAX_BYTES } from '../http/errors.ts';
import { PIPELINED_MAX, PROGRESS_BYTES, TIMINGS } from '../http/http-server.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../http/idempotency-header.ts';
import { TRACESTATE_MAX_CHARS } from '../http/observe-requests.ts';
import { FEW, IN_ALL_TIMES } from '../http/open-requests.ts';
import {
  WAIT_MAX_MS as REFUSAL_WAIT_MAX_MS,
  PER_SECOND as REFUSALS_PER_SECOND,
} from '../http/pace-refusals.ts';
import { PAGE_DEFAULT, PAGE_MAX } from '../http/page.ts';
import { BODY_MAX_BYTES } from '../http/receive-body.ts';
import { STEP_VALUE_MAX_CHARS } from '../mcp/trace-run.ts';
import {
  INVITATIONS_MAX as INVITATIONS_SHOWN_MAX,
  ORGANIZATIONS_MAX as ORGANIZATIONS_SHOWN_MAX,
  PROJECTS_MAX as PROJECTS_SHOWN_MAX,
} from '../organizations/me.ts';
import { DAYS_MAX } from '../organizations/usage-schemas.ts';
import { TRIES_MAX } from '../runs/calls/find-earlier-resume.ts';
import { LOOK_UPS_MAX } from '../runs/calls/limit-look-ups.ts';
import { RESUME_STATE_DAYS } from '../runs/calls/resume-state.ts';
import { HOURS_MAX_DAYS } from '../runs/count-run-hours.ts';
import { WAIT_MAX_SECONDS } from '../runs/jobs.ts';
import { BULK_MAX } from '../runs/run-list-query.ts';
import { ATTACHMENTS_MAX, FILENAME_MAX_LENGTH } from '../runs/run-shapes/attachments.ts';
import { SHOWN_MAX_BYTES } from '../runs/run-shapes/block-answers.ts';
import { TOOL_WAIT_MS } from '../test-cases/run-tests.ts';
import { CASE_MAX_CHARS } from '../test-cases/test-case.ts';
import { TEXT_MAX_LENGTH } from '../test-cases/test-case-fields.ts';
import { RECOVERED_MAX } from '../webhooks/recorded-redeliveries.ts';

/** A limit: its subject, the largest accepted value, and the answer beyond that value. */
type Limit = { subject: string; most: string; beyond: string };

const KIB = 1024;
const MIB = KIB * KIB;
const SECOND_MS = 1_000;
const UNITS: [string, number][] = [
  ['day', 24 * 60 * 60 * SECOND_MS],
  ['h', 60 * 60 * SECOND_MS],
  ['min', 60 * SECOND_MS],
  ['s', SECOND_MS],
];

const number = (value: number) => value.toLocaleString('en-US');
const bytes = (value: number) =>
  value % MIB === 0
    ? `${number(value / MIB)} MiB`
    : value % KIB === 0
      ? `${number(value / KIB)} KiB`
      : `${number(value)} bytes`;

function time(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${number(ms / length)} ${unit}${unit === 'day' && ms !== length ? 's' : ''}`;
}

const RATE_LIMITED = '429 `RATE_LIMITED`';
const CONFLICT = '409 `CONFLICT`';
const INVALID = '422 `VALIDATION_ERROR`';
const INVALID_TREE = '400 `INVALID_TREE`';
const TOOLS_INVALID = '400 `TOOLS_INVALID`';
const bodyMost = mostOf(BODY_MAX_BYTES);

/** The limits by subject, in the order of the page. */
export const LIMITS: { [heading: string]: Limit[] } = {
  'Requests and connections': [
    { subject: 'Request body', most: bytes(BODY_MAX_BYTES), beyond: '413 `BODY_TOO_LARGE`' },
    {
      subject: 'JSON of a request body',
      most: `${flow.JSON_DEPTH_MAX} levels, ${number(bodyMost.values)} values, ${number(bodyMost.keys)} different keys; not the key \`__proto__\`, nor \`constructor\` with a \`prototype\``,
      beyond: INVALID,
    },
    {
      subject: 'Numbers',
      most: 'whole numbers up to 2^53, others up to 1.8e308; send larger ones as text',
      beyond: INVALID,
    },
    { subject: 'Block overrides of a request', most: number(flow.FLOW_STEPS_MAX), beyond: INVALID },
    { subject: 'Headers of a request', most: bytes(maxHeaderSize), beyond: '431 `BAD_REQUEST`' },
    {
      subject: 'Arrival of a request',
      most: `head within ${time(TIMINGS.headersMs)}, all of it within ${time(TIMINGS.requestMs)}`,
      beyond: '408 `REQUEST_TIMEOUT`',
    },
    {
      subject: 'Rest of a rejected request',
      most: `${bytes(DISCARD_MAX_BYTES)} are read and discarded`,
      beyond: 'The connection closes.',
    },
    {
      subject: 'Requests of an organization at a time, in an API process',
      most: `three quarters of \`WEIR_DATABASE_CONNECTIONS\`. Further ones wait up to ${time(REQUEST_WAIT_MAX_MS)}; requests that wait for a run count below`,
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Unanswered requests of a connection',
      most: `${PIPELINED_MAX}; they run one after the other`,
      beyond: 'The connection closes.',
    },
    {
      subject: 'Reading of a waiting response',
      most: `at least ${bytes(PROGRESS_BYTES)} in 30 s`,
      beyond: 'The connection closes.',
    },
    {
      subject: 'Idle connection',
      most: `${time(TIMINGS.idleMs)}; a silent one is probed after ${time(TIMINGS.probeMs)}`,
      beyond: 'The connection closes.',
    },
    {
      subject: '`Idempotency-Key`',
      most: `1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters, valid for ${IDEMPOTENCY_KEY_HOURS} h`,
      beyond: INVALID,
    },
    { subject: '`tracestate`', most: `${TRACESTATE_MAX_CHARS} characters`, beyond: 'The header is ignored.' },
    {
      subject: 'Page of a list',
      most: `${PAGE_MAX} entries, by default ${PAGE_DEFAULT} or ${PAGE_MAX}`,
      beyond: INVALID,
    },
    {
      subject: 'Page of runs',
      most: `${number(PAGE_BLOCKS_MAX)} block executions. With \`minCost\`, with \`key\` and \`version\`, or with \`version\` 0: ${LOOKED_THROUGH_MAX} examined runs. With \`search\`: ${number(SEARCHED_MAX)}. With \`stuck=true\`: the ${number(LOOKED_AT_MAX)} oldest unfinished runs`,
      beyond: 'The page ends early; `hasMore` is true.',
    },
    {
      subject: 'Request whose message `search` looks at',
      most: bytes(SEARCHED_REQUEST_MAX_BYTES),
      beyond: 'The message is not searched.',
    },
    { subject: 'Time of one `runs/hours`', most: `${HOURS_MAX_DAYS} days`, beyond: INVALID },
    {
      subject: 'Runs of one `runs/cancel` or `runs/retry`',
      most: number(BULK_MAX),
      beyond: 'The answer has `nextCursor`.',
    },
    {
      subject: 'Value shown with a block or a request',
      most: bytes(SHOWN_MAX_BYTES),
      beyond: 'It is `null`; another endpoint returns it.',
    },
    { subject: '`wait` of `GET …/jobs/{executionId}`', most: `${WAIT_MAX_SECONDS} s`, beyond: INVALID },
    { subject: 'Days of a usage report', most: number(DAYS_MAX), beyond: INVALID },
    {
      subject: 'Request to the codec endpoint',
      most: `${bytes(BODY_MAX_BYTES)}, ${number(PAYLOADS_MAX)} payloads, ${METADATA_MAX} metadata fields each`,
      beyond: '413 `BODY_TOO_LARGE` or 422 `VALIDATION_ERROR`',
    },
  ],
  'Rate and concurrency': [
    {
      subject: 'Requests a minute of an API key or a user',
      most: '`WEIR_RATE_LIMIT_PER_KEY`, as a token bucket over all API processes. 404, 405 and 401 do not count',
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Requests a minute of an organization',
      most: '`WEIR_RATE_LIMIT_PER_ORGANIZATION`, as a token bucket over all API processes',
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Invalid keys and tokens a minute of an address',
      most: '`WEIR_FAILED_SIGN_INS` in an API process',
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Rejected requests (4xx) a second of one organization, user or address',
      most: number(REFUSALS_PER_SECOND),
      beyond: `The answer comes later, by at most ${time(REFUSAL_WAIT_MAX_MS)}.`,
    },
    {
      subject: 'Unfinished runs (`started`) of an organization',
      most: '`WEIR_RUNS_UNDER_WAY_MAX`, or the number of `weir operator org set-quota`; `GET …/rate-limits` of the organization shows it. Runs that wait for their caller do not count',
      beyond: `${RATE_LIMITED}; nothing is stored.`,
    },
    {
      subject: 'Requests of an organization that wait to start a run, in an API process',
      most: `${number(STARTS_QUEUED_EACH_MAX)}, each for ${time(START_WAIT_MAX_MS)}`,
      beyond: `${RATE_LIMITED}; jobs first`,
    },
    {
      subject: 'Requests of all organizations that wait to start a run, in an API process',
      most: `${number(STARTS_QUEUED_MAX)}`,
      beyond: '503 `SERVICE_BUSY` for the organization with the most of them',
    },
    {
      subject: 'Calls of an organization that wait for their run, in an API process',
      most: '`WEIR_OPEN_REQUESTS_MAX`',
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Streams and long polls of an organization, in an API process',
      most: '`WEIR_OPEN_REQUESTS_MAX`',
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Calls, or streams and long polls, of all organizations, in an API process',
      most: `${IN_ALL_TIMES} times \`WEIR_OPEN_REQUESTS_MAX\`, of which a quarter is for organizations with at most ${FEW}`,
      beyond: '503 `SERVICE_BUSY`',
    },
    {
      subject: `Bodies and answers of ${bytes(SMALL_BYTES)} or more, in an API process`,
      most: `${bytes(REQUEST_BYTES_EACH)} of one organization, ${bytes(REQUEST_BYTES.capacity)} in all, ${bytes(REQUEST_BYTES.reserved)} more for organizations that have none. A request waits up to ${time(REQUEST_BYTES_WAIT_MS)}`,
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Look-ups of hosts of attachments and webhooks, in an API process',
      most: `${LOOK_UPS_MAX} of one organization. Others wait up to ${time(REQUEST_BYTES_WAIT_MS)}`,
      beyond: RATE_LIMITED,
    },
    {
      subject: 'Database',
      most: `${time(CONNECTION_TIMEOUT_MS)} for a connection, ${time(QUERY_TIMEOUT_MS)} for a statement, 6 s while it answers nothing, 30 s for an idle transaction`,
      beyond: '503 `DATABASE_UNAVAILABLE`',
    },
    {
      subject: 'Write to the object store',
      most: time(PUT_MAX_MS),
      beyond: 'The value goes to PostgreSQL.',
    },
    {
      subject: '`/execute` and `/step` after SIGTERM',
      most: '29 s',
      beyond: '503 `SERVICE_STOPPING`; the run continues.',
    },
  ],
  Runs: [
    {
      subject: 'Blocks that one call of a run executes: its start, a resume, a step',
      most: number(flow.BLOCK_RUNS_MAX),
      beyond: 'The run fails with `LOOP_LIMIT_EXCEEDED`.',
    },
    {
      subject: 'Blocks that the calls of a `/step` session execute',
      most: `${number(SESSION_BLOCKS_MAX)}; a call in flight counts as ${number(flow.BLOCK_RUNS_MAX)}`,
      beyond: CONFLICT,
    },
    {
      subject: 'Output of a block, a loop, a parallel step or a run',
      most: `${bytes(flow.OUTPUT_MAX_BYTES)} and ${number(mostOf(flow.OUTPUT_MAX_BYTES).values)} values, each of which counts as at least 12 bytes`,
      beyond: 'The block or run fails with `OUTPUT_TOO_LARGE`.',
    },
    {
      subject: 'Outputs before a pause, together',
      most: bytes(flow.OUTPUT_MAX_BYTES),
      beyond: 'The run fails with `OUTPUT_TOO_LARGE`.',
    },
    {
      subject: 'Outputs of earlier steps that one block reads',
      most: bytes(flow.OUTPUTS_READ_MAX_BYTES),
      beyond: 'The block fails with `OUTPUT_TOO_LARGE`.',
    },
    {
      subject: '`maxCredits`',
      most: `above 0, at most ${number(CREDITS_MAX)}, six decimals`,
      beyond: INVALID,
    },
    {
      subject: 'Attachments',
      most: `${ATTACHMENTS_MAX} of a request, URL ${number(URL_MAX_LENGTH)} characters, filename ${FILENAME_MAX_LENGTH} characters`,
      beyond: '400: a code that begins with `ATTACHMENT_`',
    },
    {
      subject: 'Tools',
      most: `${flow.TOOLS_MAX} of a request, description ${number(flow.TOOL_DESCRIPTION_MAX_LENGTH)} characters, parameters ${bytes(flow.TOOL_PARAMETERS_MAX_BYTES)} each; ${bytes(flow.TOOLS_MAX_BYTES)} together`,
      beyond: TOOLS_INVALID,
    },
    {
      subject: 'Tool calls in one answer of a model',
      most: number(ANSWER_TOOL_CALLS_MAX),
      beyond: 'The model is told so and answers again.',
    },
    { subject: 'Result of a tool', most: bytes(flow.TOOL_RESULT_MAX_BYTES), beyond: TOOLS_INVALID },
    {
      subject: '`toolCallMessages`',
      most: bytes(flow.TOOL_MESSAGES_MAX_BYTES),
      beyond: '413 `MESSAGES_TOO_LARGE`',
    },
    {
      subject: 'Tool-call round-trips of a block',
      most: `${flow.MAX_TOOL_ITERATIONS_DEFAULT} by default, ${flow.MAX_TOOL_ITERATIONS_MAX} at most`,
      beyond: '409 `TOOL_ITERATION_LIMIT`',
    },
    { subject: '`resumeState`', most: `valid for ${RESUME_STATE_DAYS} days`, beyond: '400 `INVALID_RESUME`' },
    {
      subject: 'Repetitions of a failed resume',
      most: number(TRIES_MAX),
      beyond: 'The answer is the last failure.',
    },
    {
      subject: 'Signed URL of an output',
      most: `valid for ${time(SIGNED_SECONDS * SECOND_MS)}`,
      beyond: 'Request another URL.',
    },
  ],
  'Flows and tests': [
    {
      subject: 'Steps of a flow',
      most: `${flow.FLOW_STEPS_MAX}, ${flow.STEP_DEPTH_MAX} levels of parallel steps and loops, ${flow.BRANCHES_MAX} branches`,
      beyond: INVALID_TREE,
    },
    {
      subject: 'Iterations of a loop',
      most: `${number(flow.LOOP_ITERATIONS_DEFAULT)} by default, ${number(flow.LOOP_ITERATIONS_MAX)} at most`,
      beyond: 'The run fails with `LOOP_LIMIT_EXCEEDED`.',
    },
    {
      subject: '`until` of a loop',
      most: `${number(flow.CONDITION_MAX_LENGTH)} characters of JSON`,
      beyond: INVALID_TREE,
    },
    { subject: 'Prompt of a block', most: bytes(flow.PROMPT_MAX_BYTES), beyond: INVALID },
    {
      subject: 'Flow file',
      most: `${bytes(FLOW_FILE_MAX_BYTES)}; ${number(flow.FLOW_FILES_MAX)} files of a push`,
      beyond: INVALID,
    },
    {
      subject: 'JSON Schema',
      most: `${bytes(flow.SCHEMA_MAX_BYTES)}, ${SCHEMA_DEPTH_MAX} levels, ${number(SCHEMA_NODES_MAX)} nodes, ${number(SCHEMA_CHECK_STEPS_MAX)} steps along one path into a value`,
      beyond: INVALID_TREE,
    },
    {
      subject: 'Validation by a JSON Schema',
      most: `${VALIDATION_MAX_MS} ms of processor time`,
      beyond: `The block fails with \`SCHEMA_INVALID\`; the schema is rejected for ${time(SLOW_SCHEMA_MS)}.`,
    },
    {
      subject: 'Versions of a flow',
      most: `${number(VERSIONS_MAX)}, ${bytes(VERSIONS_MAX_BYTES)} together`,
      beyond: CONFLICT,
    },
    {
      subject: 'Test cases of a flow',
      most: `${TEST_CASES_MAX}, ${number(CASE_MAX_CHARS)} characters of JSON each (texts of an expectation ${number(TEXT_MAX_LENGTH)}), ${bytes(TEST_CASES_MAX_BYTES)} together`,
      beyond: CONFLICT,
    },
    {
      subject: 'Unfinished test runs of a flow',
      most: number(TEST_RUNS_UNDER_WAY_MAX),
      beyond: RATE_LIMITED,
    },
  ],
  'Models and code': [
    {
      subject: 'Prompt with its variables filled in',
      most: `${number(flow.RENDERED_PROMPT_MAX_CHARS)} characters, and at most ${CHARACTERS_PER_TOKEN_MAX} for each token of the model's context; ${number(flow.TOOL_MESSAGES_MAX_BYTES)} where the block offers tools`,
      beyond: 'The block fails with `PROMPT_TOO_LARGE`.',
    },
    {
      subject: 'Answer of a model',
      most: bytes(MODEL_ANSWER_MAX_BYTES),
      beyond: 'The block fails with `OUTPUT_TOO_LARGE`.',
    },
    {
      subject: 'JSON of a model or of code',
      most: `${flow.JSON_DEPTH_MAX} levels, ${number(JSON_VALUES_MAX)} values, ${number(JSON_KEYS_MAX)} different keys`,
      beyond: 'The block fails.',
    },
    {
      subject: 'Answer that does not match its schema',
      most: bytes(LARGE_JSON_BYTES),
      beyond: 'The model is not asked to repair it: `MODEL_OUTPUT_INVALID`.',
    },
    {
      subject: 'Tokens of an answer',
      most: `those of the model by default, ${number(flow.ANSWER_TOKENS_MAX)} at most`,
      beyond: INVALID,
    },
    {
      subject: 'Time of a request to a model',
      most: `${time(flow.MODEL_TIMEOUT_DEFAULT_MS)} by default, ${time(flow.MODEL_TIMEOUT_MAX_MS)} at most`,
      beyond: 'The block fails with `MODEL_UNAVAILABLE`.',
    },
    {
      subject: 'Retries of a rejected request to a model',
      most: `${flow.MODEL_RETRIES_AWAITED} by default while a caller waits, ${flow.MODEL_RETRIES_MAX} at most`,
      beyond: 'The block fails with `MODEL_UNAVAILABLE`.',
    },
    {
      subject: '`Retry-After` of a provider',
      most: time(RETRY_AFTER_MAX_MS),
      beyond: 'The service waits for that time.',
    },
    {
      subject: 'Error body of a provider',
      most: `${bytes(ERROR_BODY_MAX_BYTES)}, read for 2 s`,
      beyond: 'The rest is ignored.',
    },
    {
      subject: 'Code of a block',
      most: `source ${bytes(SOURCE_MAX_BYTES)}, input ${bytes(CODE_INPUT_MAX_BYTES)}, memory ${bytes(CODE_MEMORY_MAX_BYTES)}`,
      beyond: 'The block fails with `CODE_LIMIT_EXCEEDED`.',
    },
    {
      subject: 'Processor time of a code block',
      most: `${time(flow.CODE_TIMEOUT_DEFAULT_MS)} by default, ${time(flow.CODE_TIMEOUT_MAX_MS)} at most`,
      beyond: 'The block fails with `CODE_TIMEOUT`.',
    },
    {
      subject: 'Console lines of a code block',
      most: `${number(LOG_LIMITS.lines)} lines, ${bytes(LOG_LIMITS.chars)} as JSON; ${number(LOG_LIMITS.lineChars)} characters of a line`,
      beyond: 'The first half and the last half are kept.',
    },
    { subject: 'Pinned outputs of a run of a draft', most: bytes(flow.OUTPUT_MAX_BYTES), beyond: INVALID },
  ],
  Webhooks: [
    { subject: '`callbackUrl`', most: `${number(URL_MAX_LENGTH)} characters`, beyond: INVALID },
    {
      subject: 'Webhook body',
      most: bytes(DELIVERY_BODY_MAX_BYTES),
      beyond: 'It goes out without the result.',
    },
    {
      subject: 'Attempts of a delivery',
      most: `${ATTEMPTS_MAX}, after 0, ${RETRY_DELAYS_MS.map(time).join(', ')}. An attempt has ${time(CONNECT_TIMEOUT_MS)} to connect and ${time(TOTAL_TIMEOUT_MS)} in all`,
      beyond: 'The delivery fails.',
    },
    {
      subject: 'Attempts in flight, in each worker',
      most: `${PAIR_MAX} of one organization to one host, ${ORGANIZATION_MAX} of one organization, ${HOST_MAX} to one host`,
      beyond: 'Further deliveries wait, which is no attempt.',
    },
    {
      subject: 'Stored answer of a receiver',
      most: `${number(ANSWER_TEXT_MAX_CHARS)} characters, attempts of the last ${ROUNDS_KEPT} rounds`,
      beyond: 'Older attempts are deleted.',
    },
    {
      subject: 'Deliveries of one `recover` request',
      most: number(RECOVERED_MAX),
      beyond: 'Send the request again.',
    },
    {
      subject: '`weir listen`',
      most: `${ORGANIZATION_LISTENERS_MAX} of an organization, ${PROCESS_LISTENERS_MAX} of a process`,
      beyond: CONFLICT,
    },
  ],
  'Organizations and access': [
    {
      subject: 'Projects and flows of an organization',
      most: `${number(PROJECTS_MAX)} and ${number(FLOWS_MAX)}; deleted ones do not count`,
      beyond: CONFLICT,
    },
    { subject: 'Organizations that a user owns', most: number(ORGANIZATIONS_OWNED_MAX), beyond: CONFLICT },
    {
      subject: 'Active API keys of a project',
      most: `${ACTIVE_API_KEYS_MAX}. A revocation takes effect at once, or within 10 s where a process missed it`,
      beyond: CONFLICT,
    },
    {
      subject: 'Open invitations of an organization',
      most: `${INVITATIONS_MAX}, valid for ${VALID_DAYS} days`,
      beyond: CONFLICT,
    },
    {
      subject: '`GET /api/v1/me`',
      most: `${ORGANIZATIONS_SHOWN_MAX} organizations, ${PROJECTS_SHOWN_MAX} projects of each, the ${INVITATIONS_SHOWN_MAX} newest invitations`,
      beyond: 'The lists of organizations and projects are complete.',
    },
    {
      subject: 'Tokens',
      most: `RS256, PS256, ES256 or EdDSA; \`typ\` JWT or at+jwt. Clocks may differ by ${CLOCK_TOLERANCE_SECONDS} s`,
      beyond: '401 `UNAUTHENTICATED`',
    },
    {
      subject: 'Keys of the issuer while it is unavailable',
      most: `trusted for ${time(KEPT_MS)}`,
      beyond: '503 `IDENTITY_PROVIDER_UNAVAILABLE`',
    },
    {
      subject: 'User ids',
      most: `${USER_ID_MAX_LENGTH} characters; not \`.\`, \`..\`, \`operator\`, \`service\` or \`api_key/…\``,
      beyond: '401 `UNAUTHENTICATED`',
    },
    {
      subject: 'Names and e-mail addresses of members',
      most: `${NAME_MAX_CHARS} and ${EMAIL_MAX_CHARS} characters`,
      beyond: 'They are ignored.',
    },
    {
      subject: 'MCP',
      most: `an answer within ${time(TOOL_WAIT_MS)}; ${number(STEP_VALUE_MAX_CHARS)} characters of each value in \`get_step_trace\`; lists take \`next\` as \`after\``,
      beyond: 'The answer says how to read on.',
    },
    {
      subject: 'File of a secret (`NAME_FILE`)',
      most: `${bytes(FILE_MAX_BYTES)} of UTF-8 text`,
      beyond: 'The process names the file and ends.',
    },
  ],
};

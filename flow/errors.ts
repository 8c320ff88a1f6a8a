// The errors callers can see. `api/http/errors.ts` gives each code its HTTP status.

/** The error codes: of single rules, of generic statuses, and of failed blocks. */
export const ERROR_CODES = [
  'PARAMETER_NAME_RESERVED',
  'ATTACHMENT_LIMIT_EXCEEDED',
  'ATTACHMENT_INVALID_SCHEME',
  'ATTACHMENT_BLOCKED_HOST',
  'ATTACHMENT_URL_TOO_LONG',
  'ATTACHMENT_UNSUPPORTED_MIME',
  'ATTACHMENT_INVALID_FILENAME',
  'ATTACHMENT_UNSUPPORTED_KIND',
  'MODEL_MIME_INCOMPATIBLE',
  'CAPABILITY_REGISTRY_UNAVAILABLE',
  'TOOLS_INVALID',
  'TOOL_NAME_INVALID',
  'PAUSED_STEP_INVALID',
  'EXECUTION_ID_INVALID',
  'TOOL_RESULTS_MISMATCH',
  'INVALID_RESUME',
  'TOOLS_REQUIRE_SYNC_EXECUTE',
  'TOOL_ITERATION_LIMIT',
  'MESSAGES_TOO_LARGE',
  'TOOLS_NOT_ENABLED',
  'TOOLS_IN_NON_SEQUENTIAL_STEP',
  'MISSING_MESSAGE',
  'INVALID_STEP_INDEX',
  'NO_STEPS',
  'STALE_TREE',
  'INVALID_TREE',
  'INVALID_VERSION',
  'INSUFFICIENT_CREDITS',
  'FLOW_NOT_FOUND',
  'RUN_NOT_FOUND',
  // generic
  'VALIDATION_ERROR',
  'MALFORMED_JSON',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'PRECONDITION_FAILED',
  'PRECONDITION_REQUIRED',
  'IDEMPOTENCY_KEY_REUSED',
  'BODY_TOO_LARGE',
  'REQUEST_TIMEOUT',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'BAD_REQUEST',
  'INTERNAL_ERROR',
  'ENGINE_UNAVAILABLE',
  'SERVICE_STOPPING',
  'SERVICE_BUSY',
  'DATABASE_UNAVAILABLE',
  'OBJECT_STORE_UNAVAILABLE',
  'DNS_UNAVAILABLE',
  'IDENTITY_PROVIDER_UNAVAILABLE',
  // why a block, and with it the run, failed
  'MAX_CREDITS_REACHED',
  'INPUT_SCHEMA_MISMATCH',
  'OUTPUT_SCHEMA_MISMATCH',
  'SCHEMA_INVALID',
  'CODE_ERROR',
  'CODE_TIMEOUT',
  'CODE_LIMIT_EXCEEDED',
  'PROMPT_TOO_LARGE',
  'MODEL_NOT_CONFIGURED',
  'MODEL_UNAVAILABLE',
  'MODEL_REFUSED',
  'MODEL_NOT_FOUND',
  'MODEL_SCHEMA_REFUSED',
  'MODEL_QUOTA_EXCEEDED',
  'MODEL_REQUEST_INVALID',
  'MODEL_KEY_REJECTED',
  'MODEL_TOOLS_UNSUPPORTED',
  'BYOK_REJECTED',
  'MODEL_OUTPUT_INVALID',
  'MODEL_OUTPUT_INCOMPLETE',
  'LOOP_INPUT_NOT_ARRAY',
  'LOOP_LIMIT_EXCEEDED',
  'OUTPUT_TOO_LARGE',
  'CANCELLED',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export function isErrorCode(text: string | null | undefined): text is ErrorCode {
  return ERROR_CODES.some((code) => code === text);
}

/** Returns the message of an internal error for callers; the log has the error under `reference`. */
export function internalFailureText(reference: string): string {
  return `failed for a reason inside the service (reference ${reference}).`;
}

const MESSAGE_MAX_LENGTH = 4_000;

/**
 * Makes a message acceptable to every store and protocol: bounds its length, and removes lone surrogates (protobuf cannot
 * carry them) and U+0000 (PostgreSQL cannot read members of JSON that contains it).
 */
export function sanitizeMessage(text: string): string {
  return text.slice(0, MESSAGE_MAX_LENGTH).toWellFormed().replaceAll('\0', '\u{fffd}');
}

/** An error made for callers: a code, a message for people, and further fields of the error body. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, extra: Record<string, unknown> = {}) {
    super(sanitizeMessage(message));
    this.code = code;
    this.extra = extra;
  }
}

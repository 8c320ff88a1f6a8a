const TIMED_OUT = 'TIMED_OUT';

/** Thrown for a request that the service refused or that did not reach it. The message is for the user. */
export class ApiError extends Error {
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  /**
   * The service's error code, such as `NOT_FOUND`; `UNREACHABLE`, `TIMED_OUT` or `CUT_OFF` when there was no complete
   * response.
   */
  readonly code: string;
  /** The request id in the service's log; undefined when there was no response. */
  readonly requestId: string | undefined;
  /** Further fields of the error body; they differ by code. */
  readonly detail: Record<string, unknown>;

  constructor(
    status: number,
    detail: { code: string; message: string; [field: string]: unknown },
    requestId?: string,
  ) {
    super(detail.message);
    this.status = status;
    this.code = detail.code;
    this.requestId = requestId;
    this.detail = detail;
  }
}

/** Reads the error from a response that is not a success. Error bodies are `{detail: {code, message}}`. */
export async function toApiError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const body: unknown = await response.json().catch(() => undefined);
  const detail = (body as { detail?: { code?: unknown; message?: unknown } } | undefined)?.detail;
  if (typeof detail?.code === 'string' && typeof detail.message === 'string')
    return new ApiError(
      response.status,
      { ...detail, code: detail.code, message: detail.message },
      requestId,
    );
  const message = `The service answered with status ${response.status}. Try again. If the problem persists, contact the operator of the service.`;
  return new ApiError(response.status, { code: 'UNKNOWN', message }, requestId);
}

/**
 * Returns the error for a request without a response. Only a GET can safely be repeated: any other request may have
 * been carried out.
 */
export function unreachable(method: string, code = 'UNREACHABLE'): ApiError {
  const message =
    method === 'GET'
      ? 'The service cannot be reached. Check that it runs and that you are online, then try again.'
      : 'No response came, so the change may have been made. Check before you try again.';
  return new ApiError(0, { code, message });
}

/** Returns the error for a request that was aborted because no response came in time. */
export function timedOut(method: string): ApiError {
  return unreachable(method, TIMED_OUT);
}

/** Turns an error while reading a response body into one for a response that was cut off. */
export function toCutOff(error: unknown, method: string): unknown {
  if (!(error instanceof SyntaxError || error instanceof TypeError)) return error;
  if (method !== 'GET') return unreachable(method);
  return new ApiError(0, { code: 'CUT_OFF', message: 'The response was cut off. Try again.' });
}

/** Whether the outcome of a request is unknown: there was no response, or none from the service itself. */
export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Whether the service answered 404, for example because the resource was deleted. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/**
 * Whether a request may be repeated at once after an outage. A time-out is not repeated: the user has waited long
 * enough.
 */
export function isRepeatable(error: unknown): boolean {
  return isOutage(error) && (error as ApiError).code !== TIMED_OUT;
}

/** Finds the message about one form field in the error of a refused request; undefined when there is none. */
export function fieldError(error: Error | null, field: string): string | undefined {
  const message = listFieldErrors(error).find((entry) => entry.field === field)?.message;
  return message === undefined ? undefined : asSentence(message);
}

/** Returns the error, or undefined when these fields show all of its messages. */
export function otherError(error: Error | null, fields: readonly string[]): Error | undefined {
  const entries = listFieldErrors(error);
  if (error === null) return undefined;
  return entries.length > 0 && entries.every(({ field }) => fields.includes(field)) ? undefined : error;
}

function listFieldErrors(error: Error | null): { field: string; message: string }[] {
  const errors = error instanceof ApiError ? error.detail.errors : undefined;
  return Array.isArray(errors) ? errors : [];
}

/** Turns `must not be empty` into a sentence. */
function asSentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?…]$/.test(message) ? '' : '.');
}

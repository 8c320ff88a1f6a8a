const TIMED_OUT = 'TIMED_OUT';

/** A request that the service refused or that did not reach it, as a sentence for the reader. */
export class ApiError extends Error {
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The service's code, such as `NOT_FOUND`; `UNREACHABLE` or `TIMED_OUT` when there was no answer. */
  readonly code: string;
  /** Names the request in the service's log; undefined when there was no answer. */
  readonly requestId: string | undefined;
  /** Further fields of the error, which differ by code. */
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

/** Makes the error of an answer that is not a success; every error body is `{detail: {code, message}}`. */
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
  const message = `The service answered with status ${response.status}. Try again; if it happens again, tell its operator.`;
  return new ApiError(response.status, { code: 'UNKNOWN', message }, requestId);
}

/** The error for a request without an answer: one that only reads can be sent again, another may have been carried out. */
export function unreachable(method: string, code = 'UNREACHABLE'): ApiError {
  const message =
    method === 'GET'
      ? 'The service cannot be reached. Check that it runs and that you are online, then try again.'
      : 'No answer came, so the change may have been made. Check before you try again.';
  return new ApiError(0, { code, message });
}

/** The error for a request that was given up, since no answer came in time. */
export function timedOut(method: string): ApiError {
  return unreachable(method, TIMED_OUT);
}

/** Turns the error of a body that cannot be read into that of an answer which has ended before its time. */
export function toCutOff(error: unknown, method: string): unknown {
  if (!(error instanceof SyntaxError || error instanceof TypeError)) return error;
  if (method !== 'GET') return unreachable(method);
  return new ApiError(0, { code: 'CUT_OFF', message: 'The answer was cut off. Try again.' });
}

/** Whether nothing is known of what became of a request: it was not answered, or not by the service. */
export function isOutage(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Whether the service said that there is no such thing: it was deleted, perhaps. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Whether a request that met an outage may be repeated at once. The reader has waited long enough for one that timed out. */
export function isRepeatable(error: unknown): boolean {
  return isOutage(error) && (error as ApiError).code !== TIMED_OUT;
}

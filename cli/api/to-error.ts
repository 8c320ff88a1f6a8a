import { z } from 'zod';
import { ERROR_CODES, ServiceError } from '../../flow/errors.ts';
import type { Credential } from './credential.ts';

/** The `detail` of an error of the API, with the id of the request, for scripts. */
export type Detail = { code: string; message: string; [field: string]: unknown };

/** The service did not answer, or cannot at the moment. `code` and `detail`: of its answer, if it is Weir's. */
export class Unreachable extends Error {
  code = 'UNREACHABLE';
  detail?: Detail;
}

/** The service refused the request. `message` is for people: it has the code and the request id, too. */
export class Refusal extends ServiceError {
  readonly detail: Detail;

  constructor(message: string, detail: Detail) {
    const { code: name, message: _, ...extra } = detail;
    super(ERROR_CODES.find((known) => known === name) ?? 'INTERNAL_ERROR', message, extra);
    this.detail = detail;
  }
}

/** The answer to a change was lost; the change may have been made. */
export class AnswerLost extends Unreachable {
  override code = 'ANSWER_LOST';
}

/** Advice about a credential that the service refuses. */
const REFUSED: { [source in Credential['source']]: string } = {
  WEIR_OPERATOR_KEY: ' WEIR_OPERATOR_KEY was sent.',
  WEIR_TOKEN: ' WEIR_TOKEN was sent: it may have expired.',
  WEIR_API_KEY: ' WEIR_API_KEY was sent.',
  'weir login': ' Sign in again with weir login.',
  'npm start': '',
};

/** The body of a refusal of Weir; other services send other bodies. */
const refusal = z.object({ detail: z.looseObject({ code: z.string(), message: z.string() }) });

/** Creates the error for an answer that is not Weir's. */
export function notWeir(url: string): Unreachable {
  return new Unreachable(`The answer of ${url} is not that of a Weir service. Correct WEIR_URL.`);
}

/** Creates the error for a refusal; `answer` is its body when that is JSON. */
export function toError(
  { url, credential }: { url: string; credential: Credential },
  { status, headers }: Response,
  answer: unknown,
): Error {
  const { data } = refusal.safeParse(answer);
  const detail = data?.detail;
  if (headers.has('location'))
    return new Unreachable(
      `${url} answered with a redirect to ${headers.get('location')}. Set WEIR_URL to where the service is.`,
    );
  if (!detail)
    return new Unreachable(`${url} answered ${status}. Is WEIR_URL the address of a Weir service?`);
  const { code, message } = detail;
  const requestId = headers.get('x-request-id');
  const seconds = headers.get('retry-after');
  const full: Detail = {
    ...detail,
    ...(requestId && { request_id: requestId }),
    ...(seconds && { retry_after_seconds: Number(seconds) }),
  };
  const reference = requestId ? `${code}, request ${requestId}` : code;
  if (status >= 500 || status === 429) {
    const later = seconds ? `, Retry-After ${seconds}` : '';
    const refused = new Unreachable(`${url} answered ${status}: ${message} (${reference}${later})`);
    return Object.assign(refused, { code, detail: full });
  }
  return new Refusal(`${message}${hintAbout(code, credential)} (${reference})`, full);
}

function hintAbout(code: string, { source }: Credential): string {
  const isOfKey = source === 'WEIR_API_KEY' && (code === 'FORBIDDEN' || code === 'FLOW_NOT_FOUND');
  return code === 'UNAUTHENTICATED' || isOfKey ? REFUSED[source] : '';
}

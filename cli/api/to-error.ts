import { z } from 'zod';
import { ERROR_CODES, ServiceError } from '../../flow/errors.ts';
import type { Credential } from './credential.ts';

/** The service did not answer, or cannot at the moment. `code`: of its answer, if it is Weir's. */
export class Unreachable extends Error {
  code?: string;
}

/** The answer to a change was lost; the change may have been made. */
export class AnswerLost extends Unreachable {}

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
  const { code: name, message, ...extra } = detail;
  const requestId = headers.get('x-request-id');
  const reference = requestId ? `${name}, request ${requestId}` : name;
  if (status >= 500 || status === 429) {
    const seconds = headers.get('retry-after');
    const later = seconds ? `, Retry-After ${seconds}` : '';
    const refused = new Unreachable(`${url} answered ${status}: ${message} (${reference}${later})`);
    return Object.assign(refused, { code: name });
  }
  const code = ERROR_CODES.find((known) => known === name) ?? 'INTERNAL_ERROR';
  return new ServiceError(code, `${message}${hintAbout(code, credential)} (${reference})`, extra);
}

function hintAbout(code: string, { source }: Credential): string {
  const tells = code === 'UNAUTHENTICATED' || (code === 'FORBIDDEN' && source === 'WEIR_API_KEY');
  return tells ? REFUSED[source] : '';
}

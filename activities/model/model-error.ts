// Decides what a failed model call means: a retry (ModelUnavailable) or an error for the caller (ServiceError).
import { ServiceError } from '../../flow/errors.ts';
import { type Provider, settingsOf } from '../../platform/config/config.ts';
import { describeNetworkError } from '../../platform/net/describe-network-error.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { AnswerCutOff, AnswerLate, ProviderRefusal, ProviderUnreachable } from './fetch-answer.ts';
import { providerMessage } from './hide-secrets.ts';
import { type ProviderWords, readProviderWords } from './provider-words.ts';
import { meaningOf } from './refusal-code.ts';
import { retryAfterMs } from './retry-after.ts';

/** `hasSchema`: the request has a schema for its answer, or tools. */
export type ModelRequestSent = { model: string; provider: Provider; hasSchema: boolean };

/** The start of an answer in which a server says something else than an answer. */
const NOT_JSON_MAX_BYTES = 8 * 1024;

/**
 * Translates an error of an SDK into the error to throw, whose message contains neither the key nor the base URL. `body`: the
 * answer of status 200, if there is one.
 */
export function modelError(error: unknown, request: ModelRequestSent & { body?: Buffer | undefined }): Error {
  const { model, provider, body } = request;
  const settings = settingsOf(provider);
  if (error instanceof SyntaxError) {
    const start = body?.toString('utf8', 0, NOT_JSON_MAX_BYTES).trim() ?? '';
    // JSON or events that were cut off have the words of the model, and not those of its server.
    const said = /^\ufeff?(?:[{["]|(?:data|event|id|retry)?:)/.test(start)
      ? ''
      : readProviderWords(start).said;
    const quoted = said && `: ${providerMessage(said, provider)}`;
    return new ModelUnavailable(`${model} answered with invalid JSON${quoted}.`, { isUnreadable: true });
  }
  // The SDKs pass on what `fetchWhole` throws.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof ServiceError) return cause;
  if (cause instanceof AnswerLate) {
    const message = `${model} did not answer within ${cause.timeoutMs / 1000} s: processor_config.timeout_ms of the block sets how long a request may take.`;
    return new ServiceError('MODEL_UNAVAILABLE', message, { model });
  }
  if (cause instanceof ProviderUnreachable)
    return new ModelUnavailable(
      `${model} cannot be reached: ${describeNetworkError(cause.reason)}.${provider.unconfigured ? ` No server runs at ${provider.baseUrl}: start it, or set ${settings.address}.` : ''}`,
    );
  if (cause instanceof AnswerCutOff)
    return new ModelUnavailable(`${model} cannot be reached: ${describeNetworkError(cause)}.`, {
      isUnreadable: true,
    });
  if (cause instanceof ProviderRefusal) {
    const { status, headers, body } = cause;
    const awsName = headers.get('x-amzn-errortype')?.split(':')[0];
    const words = readProviderWords(body);
    if (awsName) words.names.push(awsName);
    return refusalError({ ...request, status, headers, words });
  }
  // The request could not even be built from the URL and key, which the SDK's own message quotes.
  const message = `${model} can't be called: ${settings.address} is not a valid URL, or ${settings.key} is not a valid key.`;
  return new ServiceError('MODEL_NOT_CONFIGURED', message, { model });
}

/**
 * Returns the error for a refusal. `status`: that of the answer, or what an answer of status 200 reports; undefined where it
 * reports none.
 */
export function refusalError({
  model,
  provider,
  hasSchema,
  status,
  words,
  headers,
}: ModelRequestSent & {
  status: number | undefined;
  words: ProviderWords;
  headers?: Headers | undefined;
}): Error {
  const settings = settingsOf(provider);
  if (status !== undefined && status < 400) {
    // The target may contain secrets of the URL, and would receive the key.
    const message = `The provider of ${model} answered with a redirect (status ${status}), which is not followed: set ${settings.address} to the address that answers.`;
    return new ServiceError('MODEL_NOT_CONFIGURED', message, { model });
  }
  const said = providerMessage(words.said, provider) || 'it gives no reason';
  const quoted = status === undefined ? `: ${said}` : ` (status ${status}): ${said}`;
  const meaning = meaningOf({ ...words, status, hasSchema });
  // Another answer of the model may do, whatever its provider thinks of the same request.
  const told = meaning === 'sample' ? null : headers?.get('x-should-retry');
  if (told === 'false' && meaning === 'passing')
    return new ServiceError('MODEL_UNAVAILABLE', `${model} is unavailable${quoted}`, { model });
  const code = told === 'true' ? 'passing' : meaning;
  if (code === 'passing' || code === 'sample') {
    const what = code === 'sample' ? 'wrote what its provider could not read' : 'is unavailable';
    return new ModelUnavailable(`${model} ${what}${quoted}`, {
      status: status ?? BAD_GATEWAY,
      retryAfterMs: retryAfterMs(headers, words.waitMs),
      // A model has written something, which may be billed.
      isUnreadable: code === 'sample',
    });
  }
  const key = provider.own ? 'the own key of the request or organization' : `the key in ${settings.key}`;
  const message = {
    MODEL_KEY_REJECTED: `The provider of ${model} rejected ${key}`,
    MODEL_QUOTA_EXCEEDED: `The quota or balance of ${key}, for ${model}, is used up`,
    MODEL_NOT_FOUND: `The provider does not know ${model}, or ${key} may not use it. Check the name`,
    MODEL_TOOLS_UNSUPPORTED: `${model} takes no tools`,
    PROMPT_TOO_LARGE: `The prompt is too large for ${model}`,
    MODEL_SCHEMA_REFUSED: `The provider of ${model} rejected the outputSchema of the block or the parameters of a tool`,
    MODEL_REFUSED: `${model} refused the request`,
    MODEL_REQUEST_INVALID: `The provider of ${model} rejected the request`,
  }[code];
  const isOwnKey = code === 'MODEL_KEY_REJECTED' && provider.own;
  return new ServiceError(isOwnKey ? 'BYOK_REJECTED' : code, `${message}${quoted}`, { model });
}

/** The status that a gateway would have sent, had it not sent 200 before. */
const BAD_GATEWAY = 502;

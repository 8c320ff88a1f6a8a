// Decides what a failed model call means: a retry (ModelUnavailable) or an error for the caller (ServiceError).
import { APIConnectionTimeoutError, APIError } from 'openai';
import { ServiceError } from '../../flow/errors.ts';
import type { Provider } from '../../platform/config/config.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { describeNetworkError } from '../../platform/net/describe-network-error.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { AnswerCutOff, AnswerLate } from './model-client.ts';
import { isQuotaUsedUp, refusalCode } from './refusal-code.ts';

export const RETRY_AFTER_MAX_MS = 60_000;
const PROVIDER_MESSAGE_MAX_LENGTH = 500;

/** `hasSchema`: the request has a schema for its answer, or tools. */
export type ModelRequestSent = { model: string; provider: Provider; hasSchema: boolean };

/** Translates an error of the SDK into the error to throw, whose message contains neither the key nor the base URL. */
export function modelError(error: unknown, request: ModelRequestSent): Error {
  const { model } = request;
  const prefix = providerOf(model).toUpperCase();
  if (error instanceof SyntaxError)
    return new ModelUnavailable(`${model} answered with invalid JSON.`, { isUnreadable: true });
  if (!(error instanceof APIError)) {
    // The request could not even be built from the URL and key, which the SDK's own message quotes.
    const message = `${model} can't be called: ${prefix}_BASE_URL is not a valid URL, or ${prefix}_API_KEY is not a valid key.`;
    return new ServiceError('MODEL_NOT_CONFIGURED', message, { model });
  }
  if (error.cause instanceof ServiceError) return error.cause;
  if (error.cause instanceof AnswerLate) {
    const message = `${model} did not answer within ${error.cause.timeoutMs / 1000} s: processor_config.timeout_ms of the block sets how long a request may take.`;
    return new ServiceError('MODEL_UNAVAILABLE', message, { model });
  }
  if (error instanceof APIConnectionTimeoutError) {
    return new ModelUnavailable(`${model} cannot be reached: the connection timed out.`);
  }
  if (error.status === undefined) {
    return new ModelUnavailable(`${model} cannot be reached: ${describeNetworkError(error)}.`, {
      isUnreadable: error.cause instanceof AnswerCutOff,
    });
  }

  const text = `${JSON.stringify(error.error) ?? ''} ${error.message}`;
  const said = error.message.replace(/^\d+ /, '');
  return statusError({ ...request, status: error.status, text, said, headers: error.headers });
}

/**
 * Returns the error for an error status. A gateway may report such a status in an answer of status 200. `said`: the provider's
 * message; `text`: the whole error.
 */
export function statusError({
  model,
  provider,
  hasSchema,
  status,
  text,
  said,
  headers,
}: ModelRequestSent & { status: number; text: string; said: string; headers?: Headers | undefined }): Error {
  const prefix = providerOf(model).toUpperCase();
  const isPassing = status === 408 || status === 409 || status === 429 || status >= 500;
  const words = `(status ${status}): ${providerMessage(said, provider)}`;
  if (isPassing && !(status === 429 && isQuotaUsedUp(status, text)))
    return new ModelUnavailable(`${model} is unavailable ${words}`, {
      status,
      retryAfterMs: retryAfterMs(headers),
    });
  if (status < 400) {
    // The target may contain secrets of the URL, and would receive the key.
    const message = `The provider of ${model} answered with a redirect (status ${status}), which is not followed: set ${prefix}_BASE_URL to the address that answers.`;
    return new ServiceError('MODEL_NOT_CONFIGURED', message, { model });
  }
  const key = provider.own ? 'the own key of the request or organization' : `the key in ${prefix}_API_KEY`;
  const code = refusalCode({ status, text, hasSchema });
  const message = {
    MODEL_KEY_REJECTED: `The provider of ${model} rejected ${key}`,
    MODEL_QUOTA_EXCEEDED: `The quota or balance of ${key}, for ${model}, is used up`,
    MODEL_NOT_FOUND: `The provider does not know ${model}, or ${key} may not use it. Check the name`,
    PROMPT_TOO_LARGE: `The prompt is too large for ${model}`,
    MODEL_SCHEMA_REFUSED: `The provider of ${model} rejected the outputSchema of the block or the parameters of a tool`,
    MODEL_REFUSED: `${model} refused the request`,
    MODEL_REQUEST_INVALID: `The provider of ${model} rejected the request as invalid`,
  }[code];
  const isOwnKey = code === 'MODEL_KEY_REJECTED' && provider.own;
  return new ServiceError(isOwnKey ? 'BYOK_REJECTED' : code, `${message} ${words}`, { model });
}

/** Returns a provider's own message, bounded, without the key or anything that looks like part of a key. */
export function providerMessage(text: string, provider: Provider): string {
  return hideKey(text, provider).slice(0, PROVIDER_MESSAGE_MAX_LENGTH).toWellFormed();
}

/** Replaces the key in what a provider says, and anything that looks like part of a key. */
export function hideKey(text: string, { apiKey }: Provider): string {
  // "none" stands for a missing key, and is also an ordinary word.
  const safe = apiKey === 'none' ? text : text.replaceAll(apiKey, '[key]');
  return safe.replace(/\bsk-[\w*-]+/g, '[key]');
}

function retryAfterMs(headers: Headers | undefined): number | undefined {
  const milliseconds = headers?.get('retry-after-ms') ?? '';
  const secondsOrDate = headers?.get('retry-after') ?? '';
  let wait: number;
  if (/^\d/.test(milliseconds)) wait = Number.parseFloat(milliseconds);
  else if (/^[\d.]+$/.test(secondsOrDate)) wait = Number.parseFloat(secondsOrDate) * 1000;
  else wait = Date.parse(secondsOrDate) - Date.now();
  return wait > 0 ? Math.min(Math.ceil(wait), RETRY_AFTER_MAX_MS) : undefined;
}

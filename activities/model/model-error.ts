// Decides what a failed model call means: a retry (ModelUnavailable) or an error for the caller (ServiceError).
import { APIConnectionTimeoutError, APIError } from 'openai';
import { ServiceError } from '../../flow/errors.ts';
import type { Provider } from '../../platform/config/config.ts';
import { providerOf } from '../../platform/models/registry.ts';
import { describeNetworkError } from '../../platform/net/describe-network-error.ts';
import { ModelUnavailable } from '../attempts/model-unavailable.ts';
import { AnswerCutOff, AnswerLate } from './model-client.ts';

export const RETRY_AFTER_MAX_MS = 60_000;
const PROVIDER_MESSAGE_MAX_LENGTH = 500;

/** Translates an error of the SDK into the error to throw, whose message contains neither the key nor the base URL. */
export function modelError(error: unknown, model: string, provider: Provider): Error {
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

  const { status } = error;
  const said = providerMessage(error.message.replace(/^\d+ /, ''), provider);
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    return new ModelUnavailable(`${model} is unavailable (status ${status}): ${said}`, {
      status,
      retryAfterMs: retryAfterMs(error.headers),
    });
  }
  if (status < 400) {
    // The target may contain secrets of the URL, and would receive the key.
    const message = `The provider of ${model} answered with a redirect (status ${status}), which is not followed: set ${prefix}_BASE_URL to the address that answers.`;
    return new ServiceError('MODEL_NOT_CONFIGURED', message, { model });
  }
  // Google answers 400 to a wrong key.
  if (status === 401 || status === 403 || JSON.stringify(error.error)?.includes('API_KEY_INVALID')) {
    const key = provider.own ? 'the own key of the request or organization' : `the key in ${prefix}_API_KEY`;
    const message = `The provider of ${model} rejected ${key} (status ${status}): ${said}`;
    return new ServiceError(provider.own ? 'BYOK_REJECTED' : 'MODEL_KEY_REJECTED', message, { model });
  }
  return new ServiceError('MODEL_REFUSED', `${model} refused the request (status ${status}): ${said}`, {
    model,
  });
}

/** Returns a provider's own message, bounded, without the key or anything that looks like part of a key. */
export function providerMessage(text: string, provider: Provider): string {
  // "none" stands for a missing key, and is also an ordinary word.
  const safe = provider.apiKey === 'none' ? text : text.replaceAll(provider.apiKey, '[key]');
  return safe
    .replace(/\bsk-[\w*-]+/g, '[key]')
    .slice(0, PROVIDER_MESSAGE_MAX_LENGTH)
    .toWellFormed();
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

import { isObject } from '../../flow/json.ts';
import { findEnd } from './find-end.ts';
import { type ProviderWords, readProviderWords } from './provider-words.ts';

/** An error within an answer of status 200. `status`: that which it names; `isWritten`: the model had written something before. */
type ReportedError = { words: ProviderWords; status: number | undefined; isWritten: boolean };

/** Members by which an answer without choices is known as an error. */
const OF_ERRORS = ['error', 'errors', 'detail', 'base_resp'];
const TEXTS_OF_ERRORS = ['message', 'msg', 'error_msg'];
const REASON_MAX_CHARS = 100;
const STATUSES = { min: 400, max: 599 };

/** Finds the error that a gateway sends with status 200: instead of choices, beside them, or in the choice, as OpenRouter does. */
export function findReportedError(answer: unknown): ReportedError | undefined {
  if (!isObject(answer)) return undefined;
  const { choices, error } = answer;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const failed = isObject(choice) ? choice : {};
  const { finish_reason: reason, native_finish_reason: native } = failed;
  const end = typeof reason === 'object' ? 'done' : findEnd(reason, native);
  if (end === 'filtered') return undefined;
  const isMarked = !isEmpty(failed.error) || end === 'broken';
  const isError =
    OF_ERRORS.some((member) => !isEmpty(answer[member])) ||
    TEXTS_OF_ERRORS.some((member) => typeof answer[member] === 'string' && answer[member] !== '');
  const isBare = choice === undefined && isError;
  if (!isMarked && isEmpty(error) && !isBare) return undefined;
  const found = [failed.error, error].find((one) => !isEmpty(one)) ?? (isBare ? answer : undefined);
  const words = readProviderWords(found ?? '');
  const { role: _, ...message } = isObject(failed.message) ? failed.message : {};
  return {
    words: words.said === '' ? { ...words, said: describeEnd(reason) } : words,
    status: words.names.map(Number).find((code) => code >= STATUSES.min && code <= STATUSES.max),
    isWritten: Object.values(message).some((value) => !isEmpty(value)),
  };
}

function describeEnd(reason: unknown): string {
  const isNamed = typeof reason === 'string' && reason !== 'error';
  const name = isNamed ? ` (finish_reason: ${reason.slice(0, REASON_MAX_CHARS)})` : '';
  return `its provider failed while it answered${name}`;
}

function isEmpty(value: unknown): boolean {
  return value == null || value === '' || value === false || (Array.isArray(value) && value.length === 0);
}

import { ApiError } from './api-error.ts';

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

import { ObjectLost, ObjectStoreUnavailable } from './object-store.ts';

const MESSAGE_MAX_LENGTH = 300;
const PROBLEMS: { [status: number]: string } = {
  301: 'is in another region',
  403: 'refuses the credentials',
  404: 'has no such bucket',
  503: 'refuses requests for now',
};

type StoreError = Error & { $metadata?: { httpStatusCode?: number } };

/** Describes why the store cannot serve, in words that may be public. */
export function describeProblem(error: unknown): string {
  const status = (error as StoreError).$metadata?.httpStatusCode;
  return (status && PROBLEMS[status]) || 'does not answer';
}

/** Turns an error of the client into ObjectLost, for an object that is not there, or ObjectStoreUnavailable. */
export function toStoreError(error: unknown): Error {
  if (error instanceof ObjectLost || error instanceof ObjectStoreUnavailable) return error;
  const { name, message, $metadata } = error as StoreError;
  if (name === 'NoSuchKey') return new ObjectLost('The object is not there.', { cause: error });
  const status = $metadata?.httpStatusCode ? ` (${$metadata.httpStatusCode})` : '';
  const text = `The object store is away: ${name}${status}: ${message}`;
  return new ObjectStoreUnavailable(text.slice(0, MESSAGE_MAX_LENGTH), { cause: error });
}

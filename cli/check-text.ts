import { InvalidArgumentError } from 'commander';
import { nameSchema, slugSchema } from '../api/flows/written-flow.ts';

/** A slug from the command line; anything else is a usage error. */
export function slug(text: string): string {
  return check(slugSchema, text);
}

export function name(text: string): string {
  return check(nameSchema, text);
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(`It is a whole number from ${min} to ${max}.`);
    return number;
  };
}

/** Versions are 32-bit integers in the database. */
export const versionNumber = wholeNumber(1, 2 ** 31 - 1);

function check(schema: typeof nameSchema, text: string): string {
  const parsed = schema.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'It is not valid.');
  return parsed.data;
}

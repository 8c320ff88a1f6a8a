// Parsers of command-line arguments. Each throws InvalidArgumentError, which commander reports as a usage error.
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { KEY_ID_PATTERN } from '../../api/auth/api-key.ts';
import { userIdSchema } from '../../api/auth/user-identifiers.ts';
import { nameSchema, slugSchema } from '../../api/flows/written-flow.ts';
import { moment } from '../../api/http/moment.ts';
import { describeIssue } from '../../api/http/zod-input.ts';
import type { VersionChoice } from '../../api/runs/run-shapes/repetitions.ts';
import { ERROR_CODES } from '../../flow/errors.ts';
import { UUID_PATTERN, VERSION_MAX } from '../../flow/limits.ts';
import { parseHttpsUrl } from '../../platform/net/parse-https-url.ts';

/** The command was called wrongly; weir.ts ends with 2. */
export class UsageError extends Error {}

/** The slugs of an organization, of a project in it, and of a flow in that; none: all of the service. */
export type Scope = { organization?: string; project?: string; flow?: string };

export function parseSlug(text: string): string {
  return parse(slugSchema, text);
}

export function parseName(text: string): string {
  return parse(nameSchema, text);
}

/** The argument of commands about an organization. */
export const ORG = ['<org>', 'slug of the organization'] as const;

/** The id of a run or a delivery, in the examples of `--help`. */
export const EXAMPLE_ID = '3f1c1c9e-6f0a-4b8e-9d55-0c6b2a2f7a11';

const REASON_MAX_CHARS = 500;

/** Parses a reason that callers will see. */
export function parseReason(text: string): string {
  const reason = text.trim();
  if (reason === '' || reason.length > REASON_MAX_CHARS)
    throw new InvalidArgumentError(`Write 1 to ${REASON_MAX_CHARS} characters.`);
  return reason;
}

export type NewProjectPath = { organization: string; slug: string };

/** Parses the path of a project that does not exist yet. */
export function parseNewProjectPath(text: string): NewProjectPath {
  const [organization = '', slug = '', ...rest] = text.split('/');
  if (organization === '' || slug === '' || rest.length > 0)
    throw new InvalidArgumentError('Write the path as org/project.');
  return { organization, slug: parseSlug(slug) };
}

/** Makes a parser of whole numbers from `min` to `max`. */
export function parseWholeNumber(min: number, max: number) {
  return (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    return number;
  };
}

/** Parses a date, or a time with its offset. */
export function parseTime(text: string): Date {
  const parsed = moment.safeParse(text);
  // The service reads a time without an offset as UTC, but a person who types one means local time.
  if (!parsed.success || /T[\d:.]+$/.test(text))
    throw new InvalidArgumentError(
      'Give an ISO 8601 date, or a time with its offset, e.g. 2030-01-31 or 2030-01-31T12:00:00Z.',
    );
  return parsed.data;
}

/** Parses a date in the future, or a time with its offset. */
export function parseFutureDate(text: string): Date {
  const date = parseTime(text);
  if (date <= new Date()) throw new InvalidArgumentError('The date is in the past.');
  return date;
}

/** Makes a parser of the ids that the command `list` prints; `what` is such as `a run`. */
export function parseId(what: string, list: string) {
  return (text: string): string => {
    if (!UUID_PATTERN.test(text))
      throw new InvalidArgumentError(`Give the id of ${what} as ${list} prints it.`);
    return text;
  };
}

export const parseRunId = parseId('a run', 'runs list');
export const parseBulkId = parseId('a bulk retry', 'runs bulk list');

export function parseRunIds(text: string, before: string[] = []): string[] {
  return [...before, parseRunId(text)];
}

/**
 * Parses the key_id of a key. What follows it, such as a secret, is refused and repeated nowhere: commander would repeat it, so
 * this throws UsageError.
 */
export function parseKeyId(text: string): string {
  const keyId = text.replace(/^weir_(live|test|operator)_/, '');
  if (KEY_ID_PATTERN.test(keyId)) return keyId;
  throw new UsageError('Give the key as key list prints it, without its secret.');
}

/** Parses the code of an error, such as MODEL_UNAVAILABLE. */
export function parseErrorCode(text: string): string {
  const code = ERROR_CODES.find((known) => known === text.toUpperCase());
  if (code) return code;
  throw new InvalidArgumentError('It is not the code of an error, such as MODEL_UNAVAILABLE or CODE_ERROR.');
}

/** Parses an https URL, whose host is not looked up. */
export function parseHttps(text: string): string {
  const { message } = parseHttpsUrl(text);
  if (message !== undefined) throw new InvalidArgumentError(`It ${message}.`);
  return text;
}

/** Parses an address on this machine or its network, such as http://localhost:3000/hook. */
export function parseHttpAddress(text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && /^https?:\/\//i.test(text)) return url;
  throw new InvalidArgumentError('Give an http or https URL, e.g. http://localhost:3000/hook.');
}

/** Makes a parser of text that the service takes as a field of a query: `schema` is the service's own. */
export function parseField(schema: z.ZodType) {
  return (text: string): string => {
    const { error } = schema.safeParse(text, { error: describeIssue });
    if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
    return text;
  };
}

export const parseVersionNumber = parseWholeNumber(1, VERSION_MAX);

/** Parses the number of a version; `words`: what else the option accepts. */
export function parseVersionOr(words: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`Give ${words}, or the number of a version.`);
  return parseVersionNumber(text);
}

/** Parses the version in which runs are run again. */
export function parseVersionChoice(text: string): VersionChoice {
  if (text === 'original' || text === 'production') return text;
  return parseVersionOr('original or production', text);
}

function parse(schema: typeof nameSchema, text: string): string {
  const parsed = schema.safeParse(text);
  if (!parsed.success)
    throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? 'The value is not valid.');
  return parsed.data;
}

export function parseUserId(text: string): string {
  if (userIdSchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('It is not a valid user id.');
}

/** Splits a path such as `acme/main` into its slugs; `form` is the required form, such as `org/project`. Throws UsageError. */
export function splitPath(text: string, form: string): string[] {
  const parts = text.split('/');
  if (parts.length !== form.split('/').length || parts.includes(''))
    throw new UsageError(
      `${JSON.stringify(text)} is not the path of a ${form.split('/').at(-1)}: write it as ${form}.`,
    );
  return parts;
}

/** Makes a parser of arguments that are paths of the form. It throws UsageError. */
export function parsePath(form: string) {
  return (text: string): string => splitPath(text, form).join('/');
}

/** Splits the path of an organization, project or flow. Throws UsageError. */
export function splitScope(path: string | undefined): Scope {
  if (path === undefined) return {};
  const [organization = '', project, flow, ...rest] = path.split('/');
  if (rest.length > 0)
    throw new UsageError(`${JSON.stringify(path)} must be a path: org, org/project or org/project/flow.`);
  return { organization, ...(project !== undefined && { project }), ...(flow !== undefined && { flow }) };
}

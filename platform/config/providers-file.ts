// The file of WEIR_PROVIDERS_FILE: providers that are not presets, or presets in another setting. It names variables that have
// the secrets, and holds none itself.
import { z } from 'zod';
import { API_KINDS, hasAddress, PRESETS } from './provider-presets.ts';
import { readBounded, readSecret } from './read-environment.ts';
import { httpUrl } from './values.ts';

const VARIABLE = 'WEIR_PROVIDERS_FILE';

/** The form of a provider's name, which is the prefix of its models. */
export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** Headers that the client of requests sets, or that carry a key. */
const OWN_HEADERS =
  /^(authorization|proxy-authorization|cookie|host|connection|content-.*|transfer-encoding|upgrade|expect|te|trailer)$/i;
const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/)
  .refine((name) => !OWN_HEADERS.test(name));
/** Headers by name, with values of `value`. */
const headersOf = (value: z.ZodType<string>) =>
  z.record(headerName, value, {
    error: (issue) =>
      issue.code === 'invalid_key'
        ? 'is not a header that can be set here; for a key there are key_env and key_header'
        : undefined,
  });
const headerValue = z.string().regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'is not a value of a header');
const variable = z.string().regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of an environment variable');

const entry = z.strictObject(
  {
    /** The preset whose settings and models the provider takes over; that of the same name by default. */
    preset: z.enum(Object.keys(PRESETS)).optional(),
    api: z.enum(API_KINDS).optional(),
    base_url: httpUrl.optional(),
    key_env: variable.optional(),
    /** The header that has the key alone; `Authorization: Bearer …` otherwise. */
    key_header: z
      .string()
      .regex(/^[\w-]+$/, 'is not the name of a header')
      .optional(),
    /** Sent with every request. */
    headers: headersOf(headerValue).optional(),
    /** Variables with the values of further headers; not sent with keys of callers and organizations. */
    headers_env: headersOf(variable).optional(),
    /** Fields of requests and messages that are never sent. */
    refused_fields: z
      .array(z.string().regex(/^(?!(model|messages|role|content)$)./, 'is a field of every request'))
      .optional(),
    /** Capabilities and prices of its models, as `name/*` in a model list. */
    capabilities: z.record(z.string(), z.unknown()).optional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys' && issue.keys.some((key) => /^(api_?)?key$/i.test(key))
        ? 'must not hold a key: put it into an environment variable, and name that in key_env'
        : undefined,
  },
);
const file = z.record(z.string().regex(PROVIDER_NAME), entry, {
  error: (issue) =>
    issue.code === 'invalid_key'
      ? 'The name of a provider has lower-case letters, digits, hyphens and underscores'
      : undefined,
});

/** An entry with the values of the variables that it names. */
export type FileProvider = z.infer<typeof entry> & { key?: string; secretHeaders?: Record<string, string> };

/** Reads the file; no entries without WEIR_PROVIDERS_FILE. Throws an Error that names each wrong entry and field. */
export function readProvidersFile(env: NodeJS.ProcessEnv): Record<string, FileProvider> {
  const path = env[VARIABLE];
  if (!path) return {};
  const parsed = file.safeParse(parseJson(path));
  if (!parsed.success)
    throw new Error(`${VARIABLE} names ${path}, which is not valid:\n${z.prettifyError(parsed.error)}`);
  const problems: string[] = [];
  const providers: Record<string, FileProvider> = {};
  for (const [name, found] of Object.entries(parsed.data)) {
    const { key_env, headers_env = {}, preset } = found;
    // The variables of a preset may have its address.
    const known = Object.hasOwn(PRESETS, name) || hasAddress(preset ?? '');
    if (!found.base_url && !known) problems.push(`  ${name}.base_url is missing`);
    const key = key_env && readValue(env, key_env, `${name}.key_env`);
    const secrets = Object.entries(headers_env).map(([header, from]) => [
      header,
      readValue(env, from, `${name}.headers_env.${header}`),
    ]);
    providers[name] = { ...found, ...(key && { key }), secretHeaders: Object.fromEntries(secrets) };
  }
  if (problems.length > 0)
    throw new Error(`${VARIABLE} names ${path}, which is not valid:\n${problems.join('\n')}`);
  return providers;

  function readValue(from: NodeJS.ProcessEnv, name: string, place: string): string {
    const value = readSecret(from, name);
    if (value === undefined) problems.push(`  ${place} names ${name}, which is not set`);
    else if (!headerValue.safeParse(value).success)
      problems.push(
        `  ${place} names ${name}, which has a line break or another character that no header has`,
      );
    return value ?? '';
  }
}

function parseJson(path: string): unknown {
  const text = readBounded(VARIABLE, path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${VARIABLE} names ${path}, which is not JSON: ${(error as Error).message}.`);
  }
}

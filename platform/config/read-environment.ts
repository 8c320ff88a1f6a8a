// Secrets from files: for each variable that holds one, NAME_FILE may name a file that has the value of NAME.
import { closeSync, openSync, readSync } from 'node:fs';
import { PRESETS } from './provider-presets.ts';

/** Those that OpenTelemetry's packages read from the environment of the process themselves: keys of a collector. */
export const TELEMETRY_SECRETS = [
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
] as const;

/** The variables that hold secrets. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'PGPASSWORD',
  'TEMPORAL_API_KEY',
  'WEIR_API_KEY_PEPPER',
  'WEIR_SECRETS_KEYS',
  'WEIR_TEMPORAL_KEYS',
  'WEIR_EGRESS_PROXY',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  ...TELEMETRY_SECRETS,
  ...Object.keys(PRESETS)
    .filter((prefix) => prefix !== 'demo')
    .map((prefix) => `${prefix.toUpperCase()}_API_KEY`),
] as const;

export const FILE_MAX_BYTES = 65_536;
const PROBLEMS: { [code: string]: string } = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
};

/**
 * Returns the variables that have a value, secrets read from their files; an empty variable counts as unset. Throws an Error
 * that names each file that cannot be used.
 */
export function readEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(given).filter(([, value]) => value?.trim()));
  const problems: string[] = [];
  for (const name of SECRET_VARIABLES)
    try {
      const secret = readSecret(env, name);
      if (secret !== undefined) env[name] = secret;
      // What is started with these variables must not find both.
      delete env[`${name}_FILE`];
    } catch (error) {
      problems.push(`  ${(error as Error).message}`);
    }
  if (problems.length > 0)
    throw new Error(`The configuration is not valid. Correct these variables:\n${problems.join('\n')}`);
  return env;
}

/** Reads one secret: the variable, else the file that NAME_FILE names; undefined when neither is set. */
export function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim() ? env[name] : undefined;
  const file = env[`${name}_FILE`]?.trim();
  if (!file) return value;
  if (value !== undefined) throw new Error(`${name} and ${name}_FILE are both set: unset one of them.`);
  const secret = readBounded(`${name}_FILE`, file).replace(/\r?\n$/, '');
  if (!secret.trim()) throw new Error(`${name}_FILE names ${file}, which is empty.`);
  return secret;
}

/** Reads a text file, whose path is in `variable`; it may be a pipe. */
export function readBounded(variable: string, file: string): string {
  const buffer = Buffer.alloc(FILE_MAX_BYTES + 1);
  let length = 0;
  try {
    const descriptor = openSync(file, 'r');
    try {
      let read: number;
      do {
        read = readSync(descriptor, buffer, length, buffer.length - length, null);
        length += read;
      } while (read > 0);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new Error(`${variable} names ${file}, which ${PROBLEMS[code] ?? `cannot be read (${code})`}.`);
  }
  if (length > FILE_MAX_BYTES)
    throw new Error(`${variable} names ${file}, which has more than ${FILE_MAX_BYTES} bytes.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length));
  } catch {
    throw new Error(`${variable} names ${file}, which is not UTF-8 text.`);
  }
}

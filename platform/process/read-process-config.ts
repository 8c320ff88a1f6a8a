import {
  type Config,
  describeUnknown,
  readConfig,
  readEnvironment,
  TELEMETRY_SECRETS,
} from '../config/config.ts';
import { log } from '../observability/log.ts';

/**
 * Reads the configuration of this process. OpenTelemetry's packages read their variables themselves, so what files hold of
 * these is put into `process.env`. Variables that nothing reads are logged. Throws as `readConfig` and `refuseArguments` do.
 */
export function readProcessConfig(): Config {
  refuseArguments();
  const env = readEnvironment(process.env);
  for (const name of TELEMETRY_SECRETS) if (env[name] !== undefined) process.env[name] = env[name];
  for (const reason of describeUnknown(process.env)) log.warn({ reason }, 'A variable has no effect.');
  return readConfig(env);
}

/** Throws when this program was started with arguments: it takes none and would ignore them. */
export function refuseArguments(): void {
  const [argument] = process.argv.slice(2);
  if (argument === undefined) return;
  throw new Error(
    `Unknown argument ${JSON.stringify(argument)}: this program takes none. Its settings are environment variables, which` +
      ' docs/reference.md lists.',
  );
}

/** Throws when listeners of webhooks are allowed in a process that has only the API, or only the worker. */
export function refuseListeners({ webhookListeners }: Config): void {
  if (webhookListeners)
    throw new Error(
      'WEIR_WEBHOOK_LISTENERS needs API and worker in one process: use npm start or npm run serve, or unset it.',
    );
}

import { type Config, readConfig, readEnvironment, TELEMETRY_SECRETS } from '../config.ts';

/**
 * Reads the configuration of this process. OpenTelemetry's packages read their variables themselves, so what files hold of
 * these is put into `process.env`. Throws as `readConfig` does.
 */
export function readProcessConfig(): Config {
  const env = readEnvironment(process.env);
  for (const name of TELEMETRY_SECRETS) if (env[name] !== undefined) process.env[name] = env[name];
  return readConfig(env);
}

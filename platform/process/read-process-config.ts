import {
  type Config,
  describeUnknown,
  readConfig,
  readEnvironment,
  TELEMETRY_SECRETS,
} from '../config/config.ts';
import { log } from '../observability/log.ts';
import { refuseArguments } from './refuse-arguments.ts';

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

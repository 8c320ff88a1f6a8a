import type { Config } from '../../platform/config/config.ts';

/** The part of the configuration that the console needs. */
export type ConsoleOptions = Pick<
  Config,
  'console' | 'oidc' | 'host' | 'publicUrl' | 'temporal' | 'temporalEncryption'
>;

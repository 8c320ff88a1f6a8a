// Where Temporal is: its own standard variables, and the configuration file that they may name.
import { existsSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { EncryptionKey } from '../secrets/encrypt.ts';

type Values = {
  WEIR_TEMPORAL_KEYS?: EncryptionKey[] | undefined;
  WEIR_TEMPORAL_ENCRYPTION?: boolean | undefined;
};

/** The keys of what Temporal stores: all decrypt, and if `encrypts`, the first one encrypts. */
export type TemporalEncryption = { keys: EncryptionKey[]; encrypts: boolean };

/** The address that Temporal's clients use when there is none. */
export const DEFAULT_ADDRESS = 'localhost:7233';
const DEFAULT_NAMESPACE = 'default';

/** The options of the SDK's `Connection.connect`, and the namespace. An absent address is DEFAULT_ADDRESS. */
export type TemporalConnection = ReturnType<typeof loadClientConnectConfig> & { namespace: string };

/** Reads the TEMPORAL_… variables. Throws an Error that names unusable variables. */
export function readTemporal(env: NodeJS.ProcessEnv): TemporalConnection {
  const file = env.TEMPORAL_CONFIG_FILE;
  // The SDK would go on without it.
  if (file && !existsSync(file)) throw new Error(`TEMPORAL_CONFIG_FILE names ${file}, which does not exist.`);
  try {
    const loaded = loadClientConnectConfig({ overrideEnvVars: env as Record<string, string> });
    return { ...loaded, namespace: loaded.namespace ?? DEFAULT_NAMESPACE };
  } catch (error) {
    // The further lines of an error of the file's grammar repeat the file, which may hold a key.
    const [problem] = (error instanceof Error ? error.message : String(error)).split('\n');
    const set = Object.keys(env).filter((name) => name.startsWith('TEMPORAL_'));
    throw new Error(
      `Temporal's configuration cannot be used: ${problem}. ` +
        `Correct ${set.length > 0 ? set.sort().join(', ') : "Temporal's configuration file"}.`,
    );
  }
}

/** Tells whether a server is configured. */
export function isTemporalConfigured({ connectionOptions }: TemporalConnection): boolean {
  const { address, apiKey, tls } = connectionOptions;
  return Boolean(address || apiKey || tls);
}

/** Reads how payloads are encrypted: with the keys, if any are set and it is not off. Throws an Error if it is on without a key. */
export function readTemporalEncryption(values: Values): TemporalEncryption {
  const { WEIR_TEMPORAL_KEYS: keys = [], WEIR_TEMPORAL_ENCRYPTION: isOn = keys.length > 0 } = values;
  if (isOn && keys.length === 0)
    throw new Error('WEIR_TEMPORAL_ENCRYPTION is on: set WEIR_TEMPORAL_KEYS too.');
  return { keys, encrypts: isOn };
}

import type { EncryptionKey } from '../secrets/encrypt.ts';

type Values = {
  WEIR_TEMPORAL_KEYS?: EncryptionKey[] | undefined;
  WEIR_TEMPORAL_ENCRYPTION?: boolean | undefined;
};

/** The keys of what Temporal stores: all decrypt, and if `encrypts`, the first one encrypts. */
export type TemporalEncryption = { keys: EncryptionKey[]; encrypts: boolean };

/** Reads how payloads are encrypted: with the keys, if any are set and it is not off. Throws an Error if it is on without a key. */
export function readTemporalEncryption(values: Values): TemporalEncryption {
  const { WEIR_TEMPORAL_KEYS: keys = [], WEIR_TEMPORAL_ENCRYPTION: isOn = keys.length > 0 } = values;
  if (isOn && keys.length === 0)
    throw new Error('WEIR_TEMPORAL_ENCRYPTION is on: set WEIR_TEMPORAL_KEYS too.');
  return { keys, encrypts: isOn };
}

// API keys, `weir_{environment}_{key_id}_{secret}`, and operators' keys, `weir_operator_{key_id}_{secret}`
// (docs/identity-and-access.md).
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../../db/schema.ts';

// No `_`: it separates the parts.
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_ID_LENGTH = 8;
const SECRET_LENGTH = 32;
/** The form of a `key_id`. */
export const KEY_ID_PATTERN = new RegExp(`^[A-Za-z0-9]{${KEY_ID_LENGTH}}$`);
const PATTERN = new RegExp(
  `^weir_(live|test|operator)_([A-Za-z0-9]{${KEY_ID_LENGTH}})_([A-Za-z0-9]{${SECRET_LENGTH}})$`,
);
const NO_HMAC = Buffer.alloc(32);

type MintedApiKey = { plaintext: string; keyId: string; secretHmac: Buffer };
/** The environment of the runs that a key starts, or the keys of operators. */
type KeyKind = Environment | 'operator';
type KeyParts = { kind: KeyKind; keyId: string; secret: string };

/** Creates a key. `plaintext` is shown once; only `keyId` and `secretHmac` are stored. */
export function mintApiKey(kind: KeyKind, pepper: string): MintedApiKey {
  const keyId = randomText(KEY_ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  return {
    plaintext: `weir_${kind}_${keyId}_${secret}`,
    keyId,
    secretHmac: hmac(secret, pepper),
  };
}

/** Splits a key into its parts; undefined when the text does not have the form of a key. */
export function parseApiKey(text: string): KeyParts | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, kind, keyId, secret] = match;
  return { kind: kind as KeyKind, keyId: keyId as string, secret: secret as string };
}

/**
 * Compares `secret` with the stored HMAC in constant time, also for an unknown key (`secretHmac` undefined: always
 * false). The caller must also check environment, revocation and expiry.
 */
export function secretMatches(secret: string, secretHmac: Buffer | undefined, pepper: string): boolean {
  const equal = timingSafeEqual(hmac(secret, pepper), secretHmac ?? NO_HMAC);
  return equal && secretHmac !== undefined;
}

function hmac(secret: string, pepper: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

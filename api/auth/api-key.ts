// API keys: `weir_{environment}_{key_id}_{secret}` (docs/identity-and-access.md).
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import type { Environment } from '../../db/schema.ts';

// No `_`: it separates the parts.
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const KEY_ID_LENGTH = 8;
const SECRET_LENGTH = 32;
/** The form of a `key_id`. */
export const KEY_ID_PATTERN = new RegExp(`^[A-Za-z0-9]{${KEY_ID_LENGTH}}$`);
const PATTERN = new RegExp(
  `^weir_(live|test)_([A-Za-z0-9]{${KEY_ID_LENGTH}})_([A-Za-z0-9]{${SECRET_LENGTH}})$`,
);
const NO_HMAC = Buffer.alloc(32);

type MintedApiKey = { plaintext: string; keyId: string; secretHmac: Buffer };
type ApiKeyParts = { environment: Environment; keyId: string; secret: string };

/** Makes a new key. `plaintext` is shown once to its owner; only `keyId` and `secretHmac` are stored. */
export function mintApiKey(environment: Environment, pepper: string): MintedApiKey {
  const keyId = randomText(KEY_ID_LENGTH);
  const secret = randomText(SECRET_LENGTH);
  return {
    plaintext: `weir_${environment}_${keyId}_${secret}`,
    keyId,
    secretHmac: hmac(secret, pepper),
  };
}

/** Splits a key as a caller sent it; undefined when it does not have the form of a key. */
export function parseApiKey(text: string): ApiKeyParts | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, environment, keyId, secret] = match;
  return { environment: environment as Environment, keyId: keyId as string, secret: secret as string };
}

/**
 * Whether `secret` is the one whose HMAC is stored. Takes as long for an unknown key (`secretHmac` undefined: always
 * false) as for a known one. The caller also checks the environment, revocation and expiry.
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

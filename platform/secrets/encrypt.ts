// Encrypts secrets at rest: AES-256-GCM, bound to the row they belong to, under a key whose id is stored beside them.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;

const TAG_BYTES = 16;

export const ENCRYPTION_KEY_BYTES = 32;

/** `id` is stored with every text that the key encrypts: letters, digits, `-` and `_`. */
export type EncryptionKey = { id: string; key: Buffer };

/** `location` names the row and column, such as `table/id/column`. A text copied to another location cannot be decrypted. */
export type Encryption = {
  encrypt(plaintext: string, location: string): string;
  /** Throws SecretUnreadable when the key is not configured, or the text was encrypted for another location. */
  decrypt(stored: string, location: string): string;
};

/** WEIR_SECRETS_KEYS does not fit a stored secret. The message names the key and the location, and contains neither secret. */
export class SecretUnreadable extends Error {}

/** Encrypts under the first key and decrypts under all: put a new key in front, and old texts stay readable. */
export function createEncryption(keys: [EncryptionKey, ...EncryptionKey[]]): Encryption {
  const [newest] = keys;
  return {
    encrypt(plaintext, location) {
      const sealed = sealBytes(newest.key, Buffer.from(plaintext), location);
      return `${newest.id}:${sealed.toString('base64')}`;
    },
    decrypt(stored, location) {
      const [id = '', sealed = ''] = stored.split(':');
      const known = keys.find((candidate) => candidate.id === id);
      if (!known)
        throw new SecretUnreadable(
          `The secret in ${location} is encrypted under the key ${id}, which is not in WEIR_SECRETS_KEYS.`,
        );
      try {
        return openBytes(known.key, Buffer.from(sealed, 'base64'), location).toString();
      } catch (cause) {
        const why = `WEIR_SECRETS_KEYS has another key with that id, or the secret was changed`;
        throw new SecretUnreadable(
          `The secret in ${location} cannot be decrypted under the key ${id}: ${why}.`,
          { cause },
        );
      }
    },
  };
}

// AES-256-GCM with a random nonce: nonce, ciphertext and tag in one buffer.

/** Encrypts `plaintext` and binds it to `context`, which decryption must repeat. */
export function sealBytes(key: Uint8Array, plaintext: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts the result of `sealBytes`. Throws when the key or the context differs, or a byte was changed. */
export function openBytes(key: Uint8Array, sealed: Buffer, context: string): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

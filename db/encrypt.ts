// Encrypts secrets at rest: AES-256-GCM, bound to the row they belong to, under a key whose id is stored beside them.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const ENCRYPTION_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `id` is stored with every text that the key encrypts: letters, digits, `-` and `_`. */
export type EncryptionKey = { id: string; key: Buffer };

/** `owner` names the row and column, such as `table/id/column`: in another place the text cannot be decrypted. */
export type Encryption = {
  encrypt(plaintext: string, owner: string): string;
  /** Throws an Error when the key is not configured, or the text was not encrypted for `owner`. */
  decrypt(stored: string, owner: string): string;
};

/** Encrypts under the first key and decrypts under all: put a new key in front, and old texts stay readable. */
export function createEncryption(keys: [EncryptionKey, ...EncryptionKey[]]): Encryption {
  const [newest] = keys;
  return {
    encrypt(plaintext, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest.key, nonce).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([
        nonce,
        cipher.update(plaintext, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${newest.id}:${sealed.toString('base64')}`;
    },
    decrypt(stored, owner) {
      const [id = '', sealed = ''] = stored.split(':');
      const known = keys.find((candidate) => candidate.id === id);
      if (!known)
        throw new Error(
          `The secret in ${owner} is encrypted under the key ${id}, which is not in WEIR_SECRETS_KEYS.`,
        );
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv(ALGORITHM, known.key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
        return text + decipher.final('utf8');
      } catch (cause) {
        const why = `WEIR_SECRETS_KEYS has another key with that id, or the secret was changed`;
        throw new Error(`The secret in ${owner} cannot be decrypted under the key ${id}: ${why}.`, { cause });
      }
    },
  };
}

// The forms that values of environment variables have, beside those that zod has.
import { z } from 'zod';
import { ENCRYPTION_KEY_BYTES, type EncryptionKey } from '../db/encrypt.ts';

/** What it comes to for one block is still exact in microcredits. */
const PRICE_MAX = 1_000_000;
const RATE_LIMIT_MAX_PER_MINUTE = 1_000_000;

export const port = z.coerce.number().int().min(0).max(65_535);
export const count = z.coerce.number().int().min(1);
/** `{"host" or "host:port": "address:port"}`, as JSON. */
export const dialMap = z
  .string()
  .transform((text, ctx) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      ctx.addIssue('is not JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.string().regex(/^\S+:\d{1,5}$/, 'reads address:port')));
/** `id:key,id:key`; each key is 32 bytes in base64. */
export const encryptionKeys = z
  .string()
  .regex(/^[\w-]+:[\w+/=-]+(,[\w-]+:[\w+/=-]+)*$/, 'reads id:key,id:key')
  .transform((text) =>
    text.split(',').map((entry) => {
      const [id = '', key = ''] = entry.split(':');
      return { id, key: Buffer.from(key, 'base64') };
    }),
  )
  .refine(
    (keys) => keys.every(({ key }) => key.length === ENCRYPTION_KEY_BYTES),
    'takes keys of 32 bytes, in base64',
  )
  .transform((keys) => keys as [EncryptionKey, ...EncryptionKey[]]);
/** An empty value is refused: it would read as 0, which is no limit. */
const given = z.string().min(1).transform(Number);
export const rateLimit = given.pipe(z.int().min(0).max(RATE_LIMIT_MAX_PER_MINUTE));
export const countOrNone = given.pipe(z.int().min(0));
/** Credits. */
export const price = given.pipe(z.number().min(0).max(PRICE_MAX));

export const origins = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== ''))
  .pipe(
    z.array(z.string().regex(/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/, 'is an origin such as https://example.com')),
  );
/** `http://[user:password@]host:port` */
export const proxyUrl = z.url({ protocol: /^http$/ }).transform((url) => new URL(url));

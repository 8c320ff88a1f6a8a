// Schemas for the values of environment variables, in addition to those of zod.
import { z } from 'zod';
import { ENCRYPTION_KEY_BYTES, type EncryptionKey } from '../db/encrypt.ts';

/** Up to this price, the cost of one block is exact in microcredits. */
const PRICE_MAX = 1_000_000;
const RATE_LIMIT_MAX_PER_MINUTE = 1_000_000;

export const port = z.coerce.number().int().min(0).max(65_535);
export const count = z.coerce.number().int().min(1);
/** A JSON object `{"host" or "host:port": "address:port"}`. */
export const dialMap = z
  .string()
  .transform((text, ctx) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      ctx.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.string().regex(/^\S+:\d{1,5}$/, 'must have the form address:port')));
/** Keys as `id:key,id:key`, each 32 bytes in base64. */
export const encryptionKeys = z
  .string()
  .regex(/^[\w-]+:[\w+/=-]+(,[\w-]+:[\w+/=-]+)*$/, 'must have the form id:key,id:key')
  .transform((text) =>
    text.split(',').map((entry) => {
      const [id = '', key = ''] = entry.split(':');
      return { id, key: Buffer.from(key, 'base64') };
    }),
  )
  .refine(
    (keys) => keys.every(({ key }) => key.length === ENCRYPTION_KEY_BYTES),
    'must contain keys of 32 bytes, in base64',
  )
  .transform((keys) => keys as [EncryptionKey, ...EncryptionKey[]]);
/** Refuses an empty value, which would be read as 0: no limit. */
const numberText = z.string().min(1).transform(Number);
export const rateLimit = numberText.pipe(z.int().min(0).max(RATE_LIMIT_MAX_PER_MINUTE));
export const countOrNone = numberText.pipe(z.int().min(0));
/** A price in credits. */
export const price = numberText.pipe(z.number().min(0).max(PRICE_MAX));

export const origins = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== ''))
  .pipe(
    z.array(
      z.string().regex(/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/, 'must be an origin such as https://example.com'),
    ),
  );
/** A proxy as `http://[user:password@]host:port`. */
export const proxyUrl = z.url({ protocol: /^http$/ }).transform((url) => new URL(url));

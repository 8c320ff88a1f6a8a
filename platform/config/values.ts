// Schemas for the values of environment variables, in addition to those of zod.
import { isIP } from 'node:net';
import { z } from 'zod';
import { CREDITS_MAX, isExact } from '../../flow/credit-amount.ts';
import { LOG_LEVELS } from '../observability/log.ts';
import { ENCRYPTION_KEY_BYTES, type EncryptionKey } from '../secrets/encrypt.ts';

/** Up to this price, the cost of one block is exact in microcredits. */
const PRICE_MAX = 1_000_000;
const RATE_LIMIT_MAX_PER_MINUTE = 1_000_000;
const DIAL_MAP = 'must be a JSON object of the form {"host": "address:port"}';

/** A number as text; the message repeats it. */
function number(what: string, isValid: (value: number) => boolean) {
  return z
    .string()
    .refine((text) => isValid(Number(text)), {
      error: ({ input }) => `must be ${what}; it is ${JSON.stringify(input)}`,
    })
    .transform(Number);
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return number(
    `a whole number ${range}`,
    (value) => Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

/** A URL; the message does not repeat it, because it may contain a password. */
function url(protocol: RegExp, problem: string) {
  return z.url({ protocol, error: ({ input }) => (input === undefined ? undefined : problem) });
}

export const postgresUrl = url(/^postgres(ql)?$/, 'is not a postgres:// address');
/** The problem of a URL that `hasUserInfo`: requests would fail, and error messages would expose the password. */
export const USER_INFO = 'must not contain a user name or password';
export const httpUrl = url(/^https?$/, 'is not an http:// or https:// URL').refine(
  (text) => !hasUserInfo(text),
  USER_INFO,
);

export function hasUserInfo(text: string): boolean {
  const { username = '', password = '' } = URL.parse(text) ?? {};
  return username !== '' || password !== '';
}

const HOST = 'must be an IP address or the name of a host';
/** An address to listen on; the URL of the API has it where no other URL is configured. */
export const host = z
  .string()
  .refine((text) => isIP(text) !== 0 || (/^[^\s/?#@\\:]+$/.test(text) && URL.canParse(`http://${text}:80`)), {
    error: ({ input }) => `${HOST}; it is ${JSON.stringify(input)}`,
  });

/** A proxy as `http://[user:password@]host:port`. */
export const proxyUrl = url(
  /^http$/,
  'is not the address of an HTTP proxy, http://[user:password@]host:port',
).transform((text) => new URL(text));
export const nodeEnv = z.enum(['production', 'development', 'test'], {
  error: ({ input }) =>
    input === undefined
      ? undefined
      : `must be production, development or test; it is ${JSON.stringify(input)}`,
});
export const onOrOff = z
  .enum(['on', 'off'], {
    error: ({ input }) =>
      input === undefined ? undefined : `must be on or off; it is ${JSON.stringify(input)}`,
  })
  .transform((text) => text === 'on');
export const logLevel = z.enum(LOG_LEVELS, {
  error: ({ input }) =>
    input === undefined
      ? undefined
      : `must be one of ${LOG_LEVELS.join(', ')}; it is ${JSON.stringify(input)}`,
});
export const pepper = z.string().min(32, 'must have at least 32 characters');
export const port = wholeNumber(0, 65_535);
/** Far more than any machine carries: some counts are the sizes of lists that are made at the start. */
const COUNT_MAX = 100_000;
export const count = wholeNumber(1, COUNT_MAX);
export const countOrNone = wholeNumber(0);
const MODELS_REFRESH_MAX_MINUTES = 7 * 24 * 60;
export const modelsRefreshMinutes = wholeNumber(1, MODELS_REFRESH_MAX_MINUTES);
const PROXIES_MAX = 10;
export const proxies = wholeNumber(0, PROXIES_MAX);
const RETENTION_MAX_DAYS = 36_500;
export const retentionDays = wholeNumber(1, RETENTION_MAX_DAYS);
export const rateLimit = wholeNumber(0, RATE_LIMIT_MAX_PER_MINUTE);
/** A price in credits. */
export const price = number(`a number from 0 to ${PRICE_MAX}`, (value) => value >= 0 && value <= PRICE_MAX);
/** An amount of credits, exact in microcredits. */
export const credits = number(
  `a number from 0 to ${CREDITS_MAX} with at most six decimal places`,
  (value) => value >= 0 && value <= CREDITS_MAX && isExact(value),
);
/** A JSON object `{"host" or "host:port": "address:port"}`. */
export const dialMap = z
  .string()
  .transform((text, ctx) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      ctx.addIssue(DIAL_MAP);
      return z.NEVER;
    }
  })
  .pipe(
    z.record(z.string(), z.string({ error: DIAL_MAP }).regex(/^\S+:\d{1,5}$/, DIAL_MAP), { error: DIAL_MAP }),
  );
/** Keys as `id:key,id:key`, each 32 bytes in base64, with an id of its own. */
export const encryptionKeys = z
  .string()
  .regex(
    /^[\w-]+:[\w+/=-]+(,[\w-]+:[\w+/=-]+)*$/,
    'must have the form id:key,id:key, each key 32 bytes in base64',
  )
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
  .refine(
    (keys) => new Set(keys.map(({ id }) => id)).size === keys.length,
    'has two keys with the same id: give each an id of its own',
  )
  .transform((keys) => keys as [EncryptionKey, ...EncryptionKey[]]);

/** User ids, separated by commas; a user id may hold spaces. */
export const userIds = z
  .string()
  .transform((text) => text.split(',').map((id) => id.trim()))
  .refine((ids) => !ids.includes(''), 'must be user ids separated by commas')
  .transform((ids) => new Set(ids));

export type WorkerRole = 'flows' | 'webhooks';
const WORKER_ROLES = 'must be flows, webhooks, or both separated by a comma';
export const workerRoles = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((role) => role.trim()))])
  .pipe(z.array(z.enum(['flows', 'webhooks'] satisfies WorkerRole[], { error: WORKER_ROLES })));

export const origins = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((origin) => origin !== ''))
  .pipe(
    z.array(
      z.string().regex(/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/, 'must be an origin such as https://example.com'),
    ),
  );

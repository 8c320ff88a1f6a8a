// The secret of the link that `npm start` prints: it signs the local owner in to the console, once, within ten minutes.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Middleware } from 'koa';

/** The parameter of an authorization request with which the console passes the secret on. */
export const ONE_TIME_PARAMETER = 'weir_one_time';
const SECRET_BYTES = 32;
const LIFETIME_MS = 10 * 60_000;

export type OneTimeLink = {
  /** Creates a secret, and invalidates the previous secret. */
  issue(): string;
  /** Uses the secret up, of which the digest is given; false when it is wrong, too old, or was used. */
  redeem(digest: string): boolean;
};

/** Creates the link's state, which is in memory only: a restart ends the secret. `now` is in milliseconds. */
export function createOneTimeLink(now: () => number = Date.now): OneTimeLink {
  let issued: { expected: Buffer; expiresAt: number } | undefined;
  return {
    issue() {
      const secret = randomBytes(SECRET_BYTES).toString('base64url');
      issued = { expected: hash(digestOf(secret)), expiresAt: now() + LIFETIME_MS };
      return secret;
    },
    redeem(digest) {
      if (!issued || !timingSafeEqual(hash(digest), issued.expected)) return false;
      const inTime = now() < issued.expiresAt;
      issued = undefined;
      return inTime;
    },
  };
}

/** Puts the digest in the place of the secret before the provider sees, and stores, the request. */
export const hideOneTimeSecret: Middleware = async (ctx, next) => {
  const given = ctx.query[ONE_TIME_PARAMETER];
  if (typeof given === 'string') ctx.query = { ...ctx.query, [ONE_TIME_PARAMETER]: digestOf(given) };
  await next();
};

function digestOf(secret: string): string {
  return hash(secret).toString('base64url');
}

/** The digest is hashed again before the comparison: a digest read from the store must not work as a secret. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

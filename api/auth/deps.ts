import type { Config } from '../../config.ts';
import type { Db } from '../../db/connect.ts';
import type { ApiKeyCache } from './api-key-cache.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';
import type { TokenVerifier } from './verify-token.ts';

/** What finding out who is calling works with. */
export type AuthDeps = {
  config: Config;
  db: Db;
  keys: ApiKeyCache;
  tokens: TokenVerifier;
  signInLimiter: SignInLimiter;
};

import type { Db } from '../../db/connect.ts';
import type { Config } from '../../platform/config/config.ts';
import type { HttpGates } from '../../platform/limits/gates.ts';
import type { ApiKeyCache } from './api-key-cache.ts';
import type { MemberCache, MemberProfiles } from './member-cache.ts';
import type { RateLimitedCounter } from './rate-limited-counter.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';
import type { TokenVerifier } from './verify-token.ts';

/** The dependencies of authentication and authorization. */
export type AuthDeps = {
  config: Config;
  db: Db;
  apiKeys: ApiKeyCache;
  tokens: TokenVerifier;
  signInLimiter: SignInLimiter;
  rateLimited: RateLimitedCounter;
  members: MemberCache;
  memberProfiles: MemberProfiles;
  gates: Pick<HttpGates, 'requests'>;
};

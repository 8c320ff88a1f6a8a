import type { Config } from '../../config.ts';
import type { Db } from '../../db/connect.ts';
import type { KeyCache } from './key-cache.ts';
import type { SignIns } from './sign-ins.ts';
import type { TokenVerifier } from './verify-token.ts';

/** What finding out who is calling works with. */
export type AuthDeps = {
  config: Config;
  db: Db;
  keys: KeyCache;
  tokens: TokenVerifier;
  signIns: SignIns;
};

import { errors } from 'jose';
import { LRUCache } from 'lru-cache';
import { log } from '../../platform/observability/log.ts';

const SAME_REASON_MS = 60_000;
const REASONS_MAX = 100;
const USER_MAX_CHARS = 80;

/**
 * Creates a function that logs why a token was refused: at most once a minute for each reason and user. The caller
 * does not learn the reason. The log names a user only when the signature was valid.
 */
export function createRefusedTokenLog(): (error: unknown) => void {
  const logged = new LRUCache<string, true>({ max: REASONS_MAX, ttl: SAME_REASON_MS });
  return function logRefusedToken(error) {
    const isSigned = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
    const user = isSigned ? String(error.payload.sub).slice(0, USER_MAX_CHARS) : undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const same = JSON.stringify([user, reason]);
    if (logged.has(same)) return;
    logged.set(same, true);
    log.warn({ ...(user !== undefined && { user_id: user }), reason }, 'A token was refused.');
  };
}

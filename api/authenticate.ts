// API keys (spec: Authentication, "API key format").
import type { FoundApiKey } from '../db/api-keys.ts';
import { ServiceError } from '../flow/errors.ts';
import { parseApiKey, secretMatches } from './api-key.ts';
import type { ApiDeps, ApiMiddleware } from './context.ts';

/** Sets `ctx.state.key`, or answers 401: the same whatever is wrong with the key. */
export function authenticate({ config, keys }: ApiDeps): ApiMiddleware {
  return async function authenticate(ctx, next) {
    const header = ctx.get('authorization');
    if (header === '')
      throw new ServiceError('UNAUTHENTICATED', 'Send an API key as Authorization: Bearer weir_live_….');
    const parts = parseApiKey(/^Bearer +(\S+)$/i.exec(header)?.[1] ?? '');
    const key = parts && (await keys.find(parts.keyId));
    const matches = parts && secretMatches(parts.secret, key?.secret_hmac, config.apiKeyPepper);
    if (!matches || !isUsable(key) || key.environment !== parts.environment)
      throw new ServiceError(
        'UNAUTHENTICATED',
        'The API key is not valid: it is unknown, revoked or expired.',
      );
    ctx.state.key = key;
    await next();
  };
}

/** Whether a key, as it was found, is neither revoked nor expired. */
export function isUsable(key: FoundApiKey | undefined): key is FoundApiKey {
  return key !== undefined && !key.revoked_at && !isPast(key.expires_at);
}

function isPast(date: Date | null): boolean {
  return date !== null && date.getTime() <= Date.now();
}

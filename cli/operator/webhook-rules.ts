import { createResolvePublic } from '../../platform/net/resolve-public.ts';

/** A listener's address fails like a receiver that is away where the service takes no listeners. */
export const WEBHOOK_RULES = { resolvePublic: createResolvePublic(), config: { webhookListeners: true } };

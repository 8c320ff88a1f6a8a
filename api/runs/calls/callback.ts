// Webhook destinations of requests (docs/webhooks.md).
import { isListenerHost } from '../../../activities/deliveries/webhook-listeners.ts';
import type { NewCall } from '../../../db/runs/insert-calls.ts';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import { parseHttpsUrl, URL_MAX_LENGTH } from '../../../platform/net/parse-https-url.ts';
import type { ResolvePublic } from '../../../platform/net/resolve-public.ts';
import type { AcceptDeps } from '../../deps.ts';
import { invalidField } from '../../http/request-errors.ts';
import { lookUpFailed } from '../run-shapes/attachments.ts';
import type { JobRequest } from '../run-shapes/requests.ts';

/**
 * Returns the normalized URL. Throws VALIDATION_ERROR for `field` unless the URL is https and its host is public or a
 * listener; DNS_UNAVAILABLE when the host cannot be looked up now.
 */
export async function requireWebhookUrl(
  { resolvePublic, config }: { resolvePublic: ResolvePublic; config: { webhookListeners: boolean } },
  field: string,
  text: string,
): Promise<string> {
  const checked = parseHttpsUrl(text);
  if (!checked.url) throw invalidField(field, checked.message);
  const { href, hostname } = checked.url;
  // A repeated run checks the stored URL again.
  if (href.length > URL_MAX_LENGTH)
    throw invalidField(field, `has more than ${URL_MAX_LENGTH} characters as it is called: ${href.length}`);
  if (config.webhookListeners && isListenerHost(hostname)) return href;
  const resolution = await resolvePublic(checked.url);
  if (resolution.problem === 'no_answer') throw lookUpFailed(field, resolution.message);
  if (resolution.problem) throw invalidField(field, `is refused: ${resolution.message}`);
  return href;
}

/** Reads the webhook of a request; none without a callbackUrl. */
export async function readCallback(
  deps: AcceptDeps,
  { callbackUrl, callbackEvents }: Pick<JobRequest, 'callbackUrl' | 'callbackEvents'>,
): Promise<NewCall['callback']> {
  if (callbackUrl === undefined) return undefined;
  const url = await requireWebhookUrl(deps, 'callbackUrl', callbackUrl);
  return { url, events: [...new Set(callbackEvents ?? WEBHOOK_EVENTS)] };
}

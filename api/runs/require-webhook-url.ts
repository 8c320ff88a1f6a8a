// Checks the destinations of webhooks (docs/webhooks.md).
import { parseHttpsUrl } from '../../net/parse-https-url.ts';
import type { ResolvePublic } from '../../net/resolve-public.ts';
import { isListenerHost } from '../../net/webhook-listeners.ts';
import { invalidField } from '../http/invalid-field.ts';

/** Returns the URL as it will be called. Throws VALIDATION_ERROR for `field` unless it is https, and public or a listener's. */
export async function requireWebhookUrl(
  { resolvePublic, config }: { resolvePublic: ResolvePublic; config: { webhookListeners: boolean } },
  field: string,
  text: string,
): Promise<string> {
  const checked = parseHttpsUrl(text);
  if (!checked.url) throw invalidField(field, checked.message);
  if (config.webhookListeners && isListenerHost(checked.url.hostname)) return checked.url.href;
  const resolution = await resolvePublic(checked.url);
  if (resolution.problem) throw invalidField(field, `is refused: ${resolution.message}`);
  return checked.url.href;
}

import type { NewCall } from '../../../db/runs/insert-calls.ts';
import { WEBHOOK_EVENTS } from '../../../flow/delivery.ts';
import type { AcceptDeps } from '../../deps.ts';
import type { JobRequest } from '../run-shapes/requests.ts';
import { requireWebhookUrl } from './require-webhook-url.ts';

/** Reads the webhook of a request; none without a callbackUrl. */
export async function readCallback(
  deps: AcceptDeps,
  { callbackUrl, callbackEvents }: Pick<JobRequest, 'callbackUrl' | 'callbackEvents'>,
): Promise<NewCall['callback']> {
  if (callbackUrl === undefined) return undefined;
  const url = await requireWebhookUrl(deps, 'callbackUrl', callbackUrl);
  return { url, events: [...new Set(callbackEvents ?? WEBHOOK_EVENTS)] };
}

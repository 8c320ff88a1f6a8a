import type { NewRun } from '../../db/runs/insert-runs.ts';
import { WEBHOOK_EVENTS } from '../../flow/delivery.ts';
import type { ApiDeps } from '../deps.ts';
import { checkTargetUrl } from './check-target-url.ts';
import type { JobRequest } from './requests.ts';

/** The webhook that a request asks for; without a callbackUrl none, whatever callbackEvents say. */
export async function readCallback(
  deps: ApiDeps,
  { callbackUrl, callbackEvents }: Pick<JobRequest, 'callbackUrl' | 'callbackEvents'>,
): Promise<NewRun['callback']> {
  if (callbackUrl === undefined) return undefined;
  const url = await checkTargetUrl(deps, 'callbackUrl', callbackUrl);
  return { url, events: [...new Set(callbackEvents ?? WEBHOOK_EVENTS)] };
}

import type { Config } from '../config/config.ts';

/** Throws when listeners of webhooks are allowed in a process that has only the API, or only the worker. */
export function refuseListeners({ webhookListeners }: Config): void {
  if (webhookListeners)
    throw new Error(
      'WEIR_WEBHOOK_LISTENERS needs API and worker in one process: use npm start or npm run serve, or unset it.',
    );
}

import type { Middleware } from 'koa';
import { VERSION } from '../version.ts';
import type { ConsoleOptions } from './console-options.ts';

/** Serves GET /console/settings.json, which the console reads before sign-in. Settings without a value are null. */
export function serveSettings({ console, oidc, temporal, temporalEncryption }: ConsoleOptions): Middleware {
  const settings = {
    issuer: oidc?.issuer ?? null,
    clientId: console.clientId ?? null,
    scopes: console.scopes,
    audience: oidc?.audience ?? null,
    temporalUiUrl: console.temporalUiUrl ?? null,
    temporalNamespace: temporal.namespace,
    temporalEncrypted: temporalEncryption.keys.length > 0,
    version: VERSION,
  };
  return function serveSettings(ctx) {
    ctx.body = settings;
  };
}

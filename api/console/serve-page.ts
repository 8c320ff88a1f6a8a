// GET /console and every path below it that does not name a file: the console's page, with a new nonce for each
// response.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context, Middleware } from 'koa';
import { type Config, isLoopback } from '../../platform/config/config.ts';
import { VERSION } from '../../platform/version.ts';
import { readDiscovery } from '../auth/identity-provider.ts';

const FETCH_TIMEOUT_MS = 3_000;

/** Time before the provider is asked again; shorter while it does not answer. */
const KEPT_MS = 10 * 60_000;
const ASKED_AGAIN_MS = 5_000;

/** The part of the configuration that the console needs. */
export type ConsoleOptions = Pick<
  Config,
  'console' | 'oidc' | 'host' | 'publicUrl' | 'temporal' | 'temporalEncryption'
>;

/** The placeholder that console/vite.config.ts writes for the nonce. */
const NONCE = /__CSP_NONCE__/g;
const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Weir</title></head>
<body><h1>The console is not built</h1>
<p>Run <code>npm run console:build</code> where this service was installed, then reload this page.
The API works without it: see <a href="/reference">the reference</a>.</p></body>
</html>
`;
/** The console uses none of these, so its content may not either. */
const DENIED = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'microphone',
  'payment',
  'usb',
];
const HEADERS = {
  // A cached page would have the nonce of an earlier response.
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': DENIED.map((feature) => `${feature}=()`).join(', '),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
};

/** Serves the page, or instructions when the console is not built. */
export function servePage(options: ConsoleOptions, file: string): Middleware {
  const signInOrigins = createSignInOrigins(options.oidc?.issuer);
  return async function servePage(ctx) {
    const elsewhere = otherName(ctx, options);
    if (elsewhere) return ctx.redirect(elsewhere);
    const html = await readFile(file, 'utf8').catch(absent);
    const nonce = randomBytes(16).toString('base64');
    ctx.set({ ...HEADERS, 'Content-Security-Policy': contentSecurityPolicy(nonce, await signInOrigins()) });
    ctx.type = 'html';
    if (html === undefined) ctx.status = 503;
    ctx.body = html === undefined ? NOT_BUILT : html.replace(NONCE, nonce);
  };
}

/** Allows `<style>` elements only with the nonce. Code editors and form controls insert some. */
function contentSecurityPolicy(nonce: string, signInOrigins: string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${["'self'", ...signInOrigins].join(' ')}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Returns the URL of the same page at 127.0.0.1 when a browser asked for localhost and users sign in at 127.0.0.1.
 * Another program may listen on localhost (::1), which would break the redirect after sign-in.
 */
function otherName(ctx: Context, { host, oidc, publicUrl }: ConsoleOptions): string | undefined {
  const signsInAt = oidc && URL.parse(oidc.issuer)?.hostname;
  const asked = URL.parse(`http://${ctx.host}`);
  const listens = ['127.0.0.1', '0.0.0.0', '::'].includes(host);
  if (publicUrl !== undefined || signsInAt !== '127.0.0.1' || !listens) return undefined;
  if (!asked || asked.hostname === '127.0.0.1' || !isLoopback(asked.hostname)) return undefined;
  return `http://127.0.0.1${asked.port && `:${asked.port}`}${ctx.path}${ctx.search}`;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}

/**
 * Creates the function that lists the origins for the page's `connect-src`: the issuer's own, and the origins of the
 * endpoints in its discovery document.
 */
function createSignInOrigins(issuer: string | undefined): () => Promise<string[]> {
  if (issuer === undefined) return async () => [];
  const own = new URL(issuer).origin;
  let known = [own];
  let asking: Promise<string[]> | undefined;
  let askAfter = Number.NEGATIVE_INFINITY;

  async function ask(issuer: string): Promise<string[]> {
    try {
      known = [...new Set([own, ...(await readEndpoints(issuer))])];
      askAfter = performance.now() + KEPT_MS;
    } catch {
      // The page works without: most providers have the token endpoint at the issuer's origin.
      askAfter = performance.now() + ASKED_AGAIN_MS;
    }
    asking = undefined;
    return known;
  }

  return async () => {
    if (performance.now() < askAfter) return known;
    asking ??= ask(issuer);
    return asking;
  };
}

/** Endpoints that the page calls with fetch. Browsers navigate to the others. */
async function readEndpoints(issuer: string): Promise<string[]> {
  const document = await readDiscovery(issuer, AbortSignal.timeout(FETCH_TIMEOUT_MS));
  const endpoints = [document.token_endpoint, document.revocation_endpoint];
  return endpoints.flatMap((one) => (one === undefined ? [] : [new URL(one).origin]));
}

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

// GET /console and every path below it that does not name a file: the console's page, with a new nonce for each
// response.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context, Middleware } from 'koa';
import { isLoopback } from '../../platform/config/config.ts';
import type { ConsoleOptions } from './console-options.ts';
import { createSignInOrigins } from './sign-in-origins.ts';

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

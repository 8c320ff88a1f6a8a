// Sign-in with a browser on this machine (RFC 8252: code with PKCE, loopback redirect) or by device code (RFC 8628).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { ServiceError } from '../../flow/errors.ts';
import { note, oneLine } from '../terminal/print.ts';
import { explain, type Provider, toSession, wanted } from './identity-provider.ts';
import type { Session } from './session-store.ts';

/** Caps the time that a provider allows: a timer of Node cannot exceed 24 days. */
const WAIT_MAX_SECONDS = 24 * 60 * 60;
const INTERVAL_MAX_SECONDS = 60;

/** A program that has not failed within this time has opened the page. Some browsers stay in the foreground. */
const FAILURE_MS = 3_000;

const HOST = '127.0.0.1';
const TIMEOUT_MINUTES = 10;

type Callback = { url: URL; page: ServerResponse };

/**
 * Signs a user in with a browser on this machine. Returns undefined when no browser can be opened. Throws when the user
 * refuses, or does not finish within ten minutes.
 */
export async function browserSignIn(provider: Provider): Promise<Session | undefined> {
  const { configuration, scope, session } = provider;
  const state = randomState();
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const server = createServer();
  let cameBack = false;
  const callback = new Promise<Callback>((resolve) => {
    server.on('request', (request, page) => {
      const url = URL.parse(request.url ?? '/', `http://${HOST}:${(server.address() as AddressInfo).port}`);
      if (url?.pathname !== '/callback') void answerPage(page, 404, 'Not found.');
      else if (url.searchParams.get('state') !== state)
        void answerPage(
          page,
          400,
          'This page belongs to another sign-in. Use the link that weir login printed last.',
        );
      else if (cameBack)
        void answerPage(page, 409, 'This sign-in is already complete: see the terminal for the outcome.');
      else {
        cameBack = true;
        resolve({ url, page });
      }
    });
  });
  server.on('error', (error) => note(`The browser could not return to weir login: ${error.message}`));
  server.listen(0, HOST);
  await once(server, 'listening');
  try {
    const redirect_uri = `http://${HOST}:${(server.address() as AddressInfo).port}/callback`;
    const code_challenge = await calculatePKCECodeChallenge(pkceCodeVerifier);
    const pkce = { code_challenge, code_challenge_method: 'S256' };
    const resource = wanted(session.audience);
    const address = addressOf(provider, { ...resource, ...pkce, redirect_uri, scope, state });
    if (!(await openBrowser(address))) return undefined;
    note(`Sign in in the browser. If none has opened, open ${address}\nWaiting …`);
    const { url, page } = await within(callback);
    try {
      const checks = { pkceCodeVerifier, expectedState: state };
      const tokens = await authorizationCodeGrant(configuration, url, checks, resource);
      const signedIn = toSession(session, tokens);
      await answerPage(page, 200, 'You are signed in to Weir. You can close this page.');
      return signedIn;
    } catch (error) {
      await answerPage(
        page,
        400,
        'You are not signed in: see the terminal for the reason. You can close this page.',
      );
      return explain(session.issuer)(error);
    }
  } finally {
    server.close();
    // Browsers also open connections on which they send nothing.
    server.closeAllConnections();
  }
}

function addressOf({ configuration, session }: Provider, parameters: Record<string, string>): string {
  try {
    return buildAuthorizationUrl(configuration, parameters).href;
  } catch (error) {
    return explain(session.issuer)(error);
  }
}

async function within(callback: Promise<Callback>): Promise<Callback> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new ServiceError(
      'UNAUTHENTICATED',
      `Nobody signed in within ${TIMEOUT_MINUTES} minutes. Run weir login again, or weir login --device.`,
    );
    timer = setTimeout(() => reject(error), TIMEOUT_MINUTES * 60_000);
  });
  return Promise.race([callback, late]).finally(() => clearTimeout(timer));
}

/** Sends a page. Resolves when it is sent or its connection has closed. */
async function answerPage(page: ServerResponse, status: number, text: string): Promise<void> {
  page
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    .end(`<!doctype html><title>Weir</title><p>${text}</p>`);
  if (!page.closed) await once(page, 'close');
}

/** Opens a page in the user's browser, with the program in BROWSER if set. Returns false when no browser can be opened. */
async function openBrowser(url: string): Promise<boolean> {
  const program = findProgram(process.env);
  if (program === undefined) return false;
  const child = spawn(program, [url], { stdio: 'ignore', detached: true });
  const opened = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), FAILURE_MS);
    const settle = (result: boolean) => {
      clearTimeout(timer);
      resolve(result);
    };
    child.on('error', () => settle(false));
    child.on('exit', (code) => settle(code === 0));
  });
  child.unref();
  return opened;
}

function findProgram(env: NodeJS.ProcessEnv): string | undefined {
  if (env.BROWSER) return env.BROWSER;
  if (process.platform === 'darwin') return env.SSH_CONNECTION ? undefined : 'open';
  return env.DISPLAY || env.WAYLAND_DISPLAY ? 'xdg-open' : undefined;
}

/**
 * Signs a user in with a browser on any machine (RFC 8628): prints an address and a code, and waits for the sign-in.
 * Throws CONFLICT if the provider has no device codes, UNAUTHENTICATED if the code expires.
 */
export async function deviceSignIn({ configuration, scope, session }: Provider): Promise<Session> {
  if (!configuration.serverMetadata().device_authorization_endpoint)
    throw new ServiceError(
      'CONFLICT',
      `The identity provider at ${session.issuer} offers no sign-in by device code. Run weir login where a browser can be opened, or set WEIR_TOKEN or WEIR_API_KEY.`,
    );
  const resource = wanted(session.audience);
  const device = await initiateDeviceAuthorization(configuration, { ...resource, scope }).catch(
    explain(session.issuer),
  );
  const { verification_uri, verification_uri_complete = verification_uri, user_code } = device;
  note(
    `Open ${oneLine(verification_uri_complete)} in a browser on any machine and sign in; the code is ${oneLine(user_code)}. Waiting …`,
  );
  const { expires_in, interval = 5 } = device;
  const signal = AbortSignal.timeout(Math.ceil(Math.min(expires_in, WAIT_MAX_SECONDS) * 1_000));
  const asked = { ...device, interval: Math.min(interval, INTERVAL_MAX_SECONDS) };
  const tokens = await pollDeviceAuthorizationGrant(configuration, asked, resource, { signal }).catch(
    (error) => {
      if (!signal.aborted) return explain(session.issuer)(error);
      throw new ServiceError(
        'UNAUTHENTICATED',
        'Nobody signed in before the code expired. Run the command again.',
      );
    },
  );
  return toSession(session, tokens);
}

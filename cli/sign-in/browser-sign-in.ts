// Sign-in with a browser on this machine (RFC 8252: a code with PKCE comes back to a loopback port) or by device code (RFC 8628).
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { ServiceError } from '../../flow/errors.ts';
import { note } from '../terminal/print-line.ts';
import { explain, type Provider, wanted } from './identity-provider.ts';
import { openBrowser } from './open-browser.ts';
import type { Session } from './session-store.ts';
import { toSession } from './to-session.ts';

const HOST = '127.0.0.1';
const TIMEOUT_MINUTES = 10;

type Callback = { url: URL; page: ServerResponse };

/** Signs a user in; undefined when no browser can be opened. Throws when the user refuses, or does nothing for ten minutes. */
export async function browserSignIn(provider: Provider): Promise<Session | undefined> {
  const { configuration, scope, session } = provider;
  const state = randomState();
  const pkceCodeVerifier = randomPKCECodeVerifier();
  const server = createServer();
  let cameBack = false;
  const callback = new Promise<Callback>((resolve) => {
    server.on('request', (request, page) => {
      const url = URL.parse(request.url ?? '/', `http://${HOST}:${(server.address() as AddressInfo).port}`);
      if (url?.pathname !== '/callback') void answerPage(page, 404, 'There is nothing here.');
      else if (url.searchParams.get('state') !== state)
        void answerPage(page, 400, 'This belongs to another sign-in than the one that weir login waits for.');
      else if (cameBack)
        void answerPage(page, 409, 'This sign-in has come back already: the terminal says how it ended.');
      else {
        cameBack = true;
        resolve({ url, page });
      }
    });
  });
  server.on('error', (error) => note(`The browser could not come back: ${error.message}`));
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
      await answerPage(page, 400, 'You are not signed in: the terminal says why. You can close this page.');
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

/** Sends a page; resolves once it is sent, or its connection is gone. */
async function answerPage(page: ServerResponse, status: number, text: string): Promise<void> {
  page
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close' })
    .end(`<!doctype html><title>Weir</title><p>${text}</p>`);
  if (!page.closed) await once(page, 'close');
}

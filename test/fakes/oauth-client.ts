// Signs a user in by OAuth, like an assistant; the user's browser is a fake.
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { type Account, consent, createBrowser } from './browser.ts';

const CALLBACK = 'http://127.0.0.1:1/callback';

export type OAuthClient = {
  provider: OAuthClientProvider;
  /** The id under which it has registered itself. */
  clientId(): string;
  /** The URL that the user was last sent to. */
  sentTo(): URL;
  /** Signs the user in where asked to, and consents; returns the parameters with which the browser comes back. */
  consent(account: Account): Promise<URLSearchParams>;
};

/** Makes a client that registers itself; the user grants it `scope` alone, whatever it asks for at first. */
export function createOAuthClient(issuer: string, scope?: string): OAuthClient {
  const kept: { [name: string]: unknown } = {};
  const browser = createBrowser(issuer);
  let sentTo: URL | undefined;
  let narrowed = scope;
  const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: {
      client_name: 'An assistant',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client: unknown) => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: unknown) => {
      kept.tokens = tokens;
    },
    invalidateCredentials: (which: string) => {
      if (which === 'all' || which === 'tokens') delete kept.tokens;
    },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    saveDiscoveryState: (state: unknown) => {
      kept.discovery = state;
    },
    discoveryState: () => kept.discovery,
    redirectToAuthorization: (url: URL) => {
      sentTo = new URL(url);
      if (narrowed !== undefined) url.searchParams.set('scope', narrowed);
      narrowed = undefined;
      kept.url = url.href;
    },
  } as OAuthClientProvider;
  return {
    provider,
    clientId: () => (kept.client as { client_id: string }).client_id,
    sentTo: () => sentTo as URL,
    consent: async (account) => new URL(await consent(browser, kept.url as string, account)).searchParams,
  };
}

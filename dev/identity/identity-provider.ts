// The identity provider of a local start: runs when none is configured.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { log } from '../../platform/observability/log.ts';
import { http } from '../node-http.ts';
import { findFreePort } from '../processes/ports.ts';
import { readState, writeState } from '../state-folder.ts';
import { type ProvidedAccounts, provideAccounts } from './accounts.ts';
import type { Audiences, IdentitySecrets, IsDisconnected } from './configuration.ts';
import { createOneTimeLink } from './one-time-link.ts';

const SECRETS_FILE = 'identity-secrets.json';
const HOST = '127.0.0.1';

export type IdentityProvider = ProvidedAccounts & {
  issuer: string;
  port: number;
  /** The secret of the client that `weir token` uses. */
  scriptSecret: string;
  /** Makes the secret of a link that signs the owner in to the console, once. */
  issueOneTimeSecret(): string;
  close(): Promise<void>;
};

/**
 * Listens on loopback, on `port` when that is free. Keeps accounts, keys, sessions and clients in the state folder.
 * User ids stay the same when the port, and with it the issuer, changes.
 */
export async function startIdentityProvider(options: {
  stateFolder: string;
  port?: number | undefined;
  audiences: Audiences;
  /** Base URLs of the service, whose console signs users in without asking them for consent. */
  consoleUrls?: string[];
  /** Tells whether a user has disconnected a client since a consent: its refresh tokens are then refused. */
  isDisconnected?: IsDisconnected;
  /** The clock of one-time links and used refresh tokens, in milliseconds. */
  now?: () => number;
}): Promise<IdentityProvider> {
  const { stateFolder, audiences, consoleUrls = [], isDisconnected = async () => false } = options;
  const provided = await provideAccounts(stateFolder);
  const secrets = await provideIdentitySecrets(stateFolder);
  const port = await findFreePort(options.port);
  const issuer = `http://${HOST}:${port}`;
  const oneTimeLink = createOneTimeLink(options.now);
  const given = {
    issuer,
    stateFolder,
    accounts: provided.accounts,
    secrets,
    audiences,
    consoleUrls,
    isDisconnected,
    now: options.now,
    oneTimeLink,
  };
  let answer: Promise<RequestListener> | undefined;
  const server = http.createServer((request, response) => {
    // Its packages take some 20 MB, which a service that nobody signs in to does not need.
    answer ??= import('./answer-requests.ts').then(({ answerRequests }) => answerRequests(given));
    answer.then(
      (listener) => listener(request, response),
      (error: unknown) => {
        log.error({ err: error }, 'The identity provider could not be loaded.');
        response.writeHead(500).end();
      },
    );
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  server.on('error', (error) => log.error({ err: error }, 'The identity provider failed.'));
  return {
    ...provided,
    issuer,
    port,
    scriptSecret: secrets.scriptSecret,
    issueOneTimeSecret: oneTimeLink.issue,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function provideIdentitySecrets(stateFolder: string): Promise<IdentitySecrets> {
  const existing = readState<IdentitySecrets>(stateFolder, SECRETS_FILE);
  if (existing) return existing;
  const { exportJWK, generateKeyPair } = await import('jose');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = randomBytes(8).toString('hex');
  const secrets = {
    jwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' },
    cookieKey: randomBytes(32).toString('base64url'),
    scriptSecret: randomBytes(32).toString('base64url'),
  };
  writeState(stateFolder, SECRETS_FILE, secrets);
  return secrets;
}

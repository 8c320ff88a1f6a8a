// The identity provider of a local start: runs when none is configured.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { log } from '../../observability/log.ts';
import { findFreePort } from '../processes/ports.ts';
import { readState, writeState } from '../state-folder.ts';
import { type Account, provideAccounts } from './accounts.ts';
import {
  type Audiences,
  defaultScope,
  type IdentitySecrets,
  type IsDisconnected,
  identityConfiguration,
} from './configuration.ts';
import { createInteractions } from './interactions.ts';
import { createOneTimeLink, hideOneTimeSecret } from './one-time-link.ts';

const SECRETS_FILE = 'identity-secrets.json';
const HOST = '127.0.0.1';

export type IdentityProvider = {
  issuer: string;
  port: number;
  accounts: Account[];
  /** The passwords of accounts created just now: the only chance to show them. */
  passwords: [email: string, password: string][];
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
  /** The clock of one-time links, in milliseconds. */
  now?: () => number;
}): Promise<IdentityProvider> {
  const { stateFolder, audiences, consoleUrls = [], isDisconnected = async () => false } = options;
  const { accounts, passwords } = await provideAccounts(stateFolder);
  const secrets = await provideIdentitySecrets(stateFolder);
  const port = await findFreePort(options.port);
  const issuer = `http://${HOST}:${port}`;
  const oneTimeLink = createOneTimeLink(options.now);
  const provider = new Provider(
    issuer,
    identityConfiguration({ stateFolder, accounts, secrets, audiences, consoleUrls, isDisconnected }),
  );
  provider.use(defaultScope);
  provider.use(hideOneTimeSecret);
  provider.use(createInteractions(provider, accounts, oneTimeLink));
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'The identity provider failed.'));
  const server = createServer(provider.callback());
  server.listen(port, HOST);
  await once(server, 'listening');
  server.on('error', (error) => log.error({ err: error }, 'The identity provider failed.'));
  return {
    issuer,
    port,
    accounts,
    passwords,
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

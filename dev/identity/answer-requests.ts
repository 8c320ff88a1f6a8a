import type { RequestListener } from 'node:http';
import Provider from 'oidc-provider';
import { log } from '../../platform/observability/log.ts';
import { defaultScope, type IdentityOptions, identityConfiguration } from './configuration.ts';
import { createInteractions } from './interactions.ts';
import { hideOneTimeSecret, type OneTimeLink } from './one-time-link.ts';

/** Creates what answers the requests to the identity provider of an issuer. */
export function answerRequests({
  issuer,
  oneTimeLink,
  ...options
}: IdentityOptions & { issuer: string; oneTimeLink: OneTimeLink }): RequestListener {
  const provider = new Provider(issuer, identityConfiguration(options));
  provider.use(defaultScope);
  provider.use(hideOneTimeSecret);
  provider.use(createInteractions(provider, options.accounts, oneTimeLink));
  provider.on('server_error', (_ctx, error) => log.error({ err: error }, 'The identity provider failed.'));
  return provider.callback();
}

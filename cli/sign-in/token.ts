// `weir token`: prints the JWT that commands send, or gets another from the identity provider of a local start.
import type { Command } from 'commander';
import { MANAGEMENT_SCOPE, MCP_SCOPES } from '../../api/auth/scopes.ts';
import { SCRIPT_CLIENT_ID } from '../../dev/identity/client-ids.ts';
import { ServiceError } from '../../flow/errors.ts';
import { getCredential } from '../api/credential.ts';
import { findLocalStart, getLocalToken, type LocalIdentity, requireStarted } from '../api/local-start.ts';
import { serviceUrl } from '../api/service-url.ts';
import { type CommandResult, printResult } from '../terminal/print.ts';

type Options = { mcp?: boolean; signIn?: boolean };

export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description(
      'print the access token (JWT) of the signed-in user for curl and scripts, even if WEIR_API_KEY is set',
    )
    .option('--mcp', 'get a token for the MCP endpoint, with every scope, from a local npm start')
    .option(
      '--sign-in',
      'get a token from a local npm start by signing in as another user in a browser; it is not stored',
    )
    .addHelpText('after', '\nExample:\n  JWT=$(weir token)')
    .action(async (options: Options, command: Command) => printResult(await getToken(options), command));
}

async function getToken({ mcp, signIn }: Options): Promise<CommandResult> {
  if (!mcp && !signIn) return currentToken();
  const identity = localIdentity();
  const [resource, scope] = mcp
    ? [identity.mcpAudience, MCP_SCOPES.join(' ')]
    : [identity.audience, MANAGEMENT_SCOPE];
  if (signIn) return describeToken(await signInWithBrowser(identity, resource, scope));
  const form = { grant_type: 'client_credentials', resource, scope };
  return describeToken((await getLocalToken(identity, form)).access_token);
}

/** Gets the token with which the other commands act; API keys are not used. */
async function currentToken(): Promise<CommandResult> {
  const { token } = await getCredential(serviceUrl(), { jwtOnly: true });
  return describeToken(token);
}

async function describeToken(token: string): Promise<CommandResult> {
  return { json: { token, expiresInSeconds: await secondsLeft(token) }, text: token };
}

/** Reads how long a token is good for; null where it does not say so, or is not a JWT. */
async function secondsLeft(token: string): Promise<number | null> {
  const { decodeJwt } = await import('jose');
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? null : exp - Math.floor(Date.now() / 1_000);
  } catch {
    return null;
  }
}

function localIdentity(): LocalIdentity {
  const identity = findLocalStart()?.identity;
  if (identity) return identity;
  requireStarted();
  throw new ServiceError(
    'VALIDATION_ERROR',
    'Run npm start first: --mcp and --sign-in work with its identity provider. With WEIR_OIDC_ISSUER set, get tokens from that provider.',
  );
}

async function signInWithBrowser(
  { issuer, scriptSecret }: LocalIdentity,
  audience: string,
  scope: string,
): Promise<string> {
  const { discover } = await import('./identity-provider.ts');
  const { deviceSignIn } = await import('./sign-in.ts');
  const session = { issuer, clientId: SCRIPT_CLIENT_ID, audience };
  const configuration = await discover(session, scriptSecret);
  return (await deviceSignIn({ configuration, scope, session })).accessToken;
}

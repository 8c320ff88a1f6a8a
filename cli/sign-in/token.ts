// `weir token`: prints the JWT that commands send, or gets another from the identity provider of a local start.
import type { Command } from 'commander';
import { MANAGEMENT_SCOPE, MCP_SCOPES } from '../../api/auth/scopes.ts';
import { ServiceError } from '../../flow/errors.ts';
import { findCredential } from '../api/credential.ts';
import { findLocalStart, requireStarted } from '../api/local-start.ts';
import { askProvider, type LocalIdentity, type LocalToken } from '../api/local-token.ts';
import { serviceUrl } from '../api/service-url.ts';
import { note } from '../terminal/print-line.ts';
import { type CommandResult, printResult } from '../terminal/print-result.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

type Options = { mcp?: boolean; signIn?: boolean };

export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('print the access token (JWT) of the user that weir whoami names, for curl and scripts')
    .option('--mcp', 'get one for the MCP endpoint, with every scope, from a local npm start')
    .option(
      '--sign-in',
      'get one from a local npm start by signing in as another user in a browser; nothing is stored',
    )
    .addHelpText('after', '\nExample:\n  JWT=$(weir token)')
    .action(async (options: Options, command: Command) => printResult(await getToken(options), command));
}

async function getToken({ mcp, signIn }: Options): Promise<CommandResult> {
  if (!mcp && !signIn) return currentToken();
  const identity = localIdentity();
  const wanted = mcp
    ? { resource: identity.mcpAudience, scope: MCP_SCOPES.join(' ') }
    : { resource: identity.audience, scope: MANAGEMENT_SCOPE };
  const token = signIn
    ? await signInWithBrowser(identity, wanted)
    : await askProvider<LocalToken>(identity, '/token', { grant_type: 'client_credentials', ...wanted });
  return {
    json: { token: token.access_token, expiresInSeconds: token.expires_in },
    text: token.access_token,
  };
}

/** Gets the token with which the other commands act; API keys are passed over. */
async function currentToken(): Promise<CommandResult> {
  const { token } = await findCredential(serviceUrl(), { jwtOnly: true });
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

type DeviceCode = { device_code: string; verification_uri_complete: string; interval?: number };

/** Runs the device flow: prints where to sign in, and waits for it. */
async function signInWithBrowser(
  identity: LocalIdentity,
  wanted: Record<string, string>,
): Promise<LocalToken> {
  const device = await askProvider<DeviceCode>(identity, '/device/auth', wanted);
  note(`Open ${device.verification_uri_complete} in a browser and sign in. Waiting …`);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, (device.interval ?? 5) * 1000));
    const code = { grant_type: DEVICE_CODE, device_code: device.device_code };
    const token = await askProvider<LocalToken | undefined>(
      identity,
      '/token',
      code,
      'authorization_pending',
    );
    if (token) return token;
  }
}

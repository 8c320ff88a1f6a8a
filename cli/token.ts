// `weir token`: gets a JWT for scripts and experiments from the identity provider of a local start.
import type { Command } from 'commander';
import { MANAGEMENT_SCOPE, MCP_SCOPES } from '../api/auth/scopes.ts';
import { SCRIPT_CLIENT_ID } from '../embedded/identity/script-client-id.ts';
import { ServiceError } from '../flow/errors.ts';
import { localIdentity } from './environment.ts';
import { type CommandResult, printResult } from './print-result.ts';

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const TIMEOUT_MS = 10_000;

type Options = { mcp?: boolean; signIn?: boolean };
type Identity = ReturnType<typeof localIdentity>;
type Token = { access_token: string; expires_in: number };

export function addTokenCommand(program: Command): void {
  program
    .command('token')
    .description('print an access token (JWT) for the management API of a local npm start')
    .option('--mcp', 'make it a token for the MCP endpoint, with every scope')
    .option(
      '--sign-in',
      'sign in as a user in a browser, instead of as weir-script, an owner of the organization demo',
    )
    .action(async (options: Options, command: Command) => printResult(await getToken(options), command));
}

async function getToken({ mcp, signIn }: Options): Promise<CommandResult> {
  const identity = localIdentity();
  const wanted = mcp
    ? { resource: identity.mcpAudience, scope: MCP_SCOPES.join(' ') }
    : { resource: identity.audience, scope: MANAGEMENT_SCOPE };
  const token = signIn
    ? await signInWithBrowser(identity, wanted)
    : await ask<Token>(identity, '/token', { grant_type: 'client_credentials', ...wanted });
  return {
    json: { token: token.access_token, expiresInSeconds: token.expires_in },
    text: token.access_token,
  };
}

type DeviceCode = { device_code: string; verification_uri_complete: string; interval?: number };

/** Runs the device flow: prints where to sign in, and waits for it. */
async function signInWithBrowser(identity: Identity, wanted: Record<string, string>): Promise<Token> {
  const device = await ask<DeviceCode>(identity, '/device/auth', wanted);
  console.error(`Open ${device.verification_uri_complete} in a browser and sign in. Waiting …`);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, (device.interval ?? 5) * 1000));
    const code = { grant_type: DEVICE_CODE, device_code: device.device_code };
    const token = await ask<Token | undefined>(identity, '/token', code, 'authorization_pending');
    if (token) return token;
  }
}

/** Sends a form to the provider; returns undefined when it answers the error `pending`. */
async function ask<T>(
  { issuer, scriptSecret }: Identity,
  path: string,
  form: Record<string, string>,
  pending?: string,
): Promise<T> {
  const response = await fetch(issuer + path, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${SCRIPT_CLIENT_ID}:${scriptSecret}`)}` },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new ServiceError(
      'IDENTITY_PROVIDER_UNAVAILABLE',
      `The identity provider cannot be reached at ${issuer} (${error.message}). Run npm start first.`,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as T & {
    error?: string;
    error_description?: string;
  };
  if (response.ok) return answer;
  if (answer.error !== undefined && answer.error === pending) return undefined as T;
  throw new ServiceError(
    'UNAUTHENTICATED',
    `The identity provider at ${issuer} gave no token: ${answer.error_description ?? answer.error ?? `status ${response.status}`}.`,
  );
}

// The identity provider for a local start: the configured one, else our own.
import { MANAGEMENT_SCOPE } from '../../api/auth/scopes.ts';
import { type Config, isLoopback, readAudiences } from '../../platform/config/config.ts';
import type { FirstMember } from '../database/demo-data.ts';
import type { Progress } from '../progress.ts';
import type { LocalEnvironment } from '../state-folder.ts';
import { CLI_CLIENT_ID, CONSOLE_CLIENT_ID, SCRIPT_CLIENT_ID } from './client-ids.ts';
import type { IsDisconnected } from './configuration.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

export type ProvidedIdentity = {
  /** Variables for the service. */
  env: NodeJS.ProcessEnv;
  /** Our own provider; undefined when another one is configured. */
  own?: IdentityProvider;
  local: Pick<LocalEnvironment, 'identity'>;
};

/**
 * Uses WEIR_OIDC_ISSUER, or starts a provider with its accounts in the state folder. In production it starts none
 * unless WEIR_EMBEDDED_IDENTITY_PROVIDER is `on`: the accounts are for development.
 */
export async function provideIdentity(options: {
  config: Pick<Config, 'oidc' | 'production' | 'publicUrl'>;
  stateFolder: string;
  port: number | undefined;
  databaseUrl: string;
  baseUrl: string;
  progress: Progress;
}): Promise<ProvidedIdentity> {
  const { config, stateFolder, port, databaseUrl, baseUrl, progress } = options;
  if (config.oidc) return { env: {}, local: {} };
  const task = progress.begin('Identity');
  try {
    if (config.production && process.env.WEIR_EMBEDDED_IDENTITY_PROVIDER !== 'on') {
      task.note(
        'users cannot sign in until you set WEIR_OIDC_ISSUER, or WEIR_EMBEDDED_IDENTITY_PROVIDER=on. API keys work.',
      );
      return { env: {}, local: {} };
    }
    const audiences = readAudiences(process.env, config.publicUrl ?? baseUrl);
    const own = await startIdentityProvider({
      stateFolder,
      port,
      audiences,
      consoleUrls: [...new Set([baseUrl, config.publicUrl ?? baseUrl])],
      isDisconnected: readDisconnections(databaseUrl),
    });
    const { issuer, scriptSecret } = own;
    task.done(issuer);
    return {
      env: {
        WEIR_OIDC_ISSUER: issuer,
        WEIR_OIDC_AUDIENCE: audiences.audience,
        WEIR_MCP_AUDIENCE: audiences.mcpAudience,
        WEIR_CLI_CLIENT_ID: CLI_CLIENT_ID,
        WEIR_CLI_SCOPES: `openid ${MANAGEMENT_SCOPE}`,
        WEIR_CONSOLE_CLIENT_ID: CONSOLE_CLIENT_ID,
        WEIR_CONSOLE_SCOPES: `openid ${MANAGEMENT_SCOPE}`,
      },
      own,
      local: { identity: { issuer, ...audiences, scriptSecret } },
    };
  } finally {
    task.drop();
  }
}

/** Returns what asks the database. Its packages take some 10 MB and are loaded for the first question. */
function readDisconnections(databaseUrl: string): IsDisconnected {
  let opened: Promise<IsDisconnected> | undefined;
  return async (consent) => {
    opened ??= open();
    return (await opened)(consent);
  };

  async function open(): Promise<IsDisconnected> {
    const { connect } = await import('../../db/connect.ts');
    const { isDisconnected } = await import('../../db/tenants/connected-assistants.ts');
    const db = connect(databaseUrl, 1);
    return (consent) => isDisconnected(db, consent);
  }
}

/** Lists the first members of the demo organization: the accounts, and the user of `weir token` as another owner. */
export function firstMembers(own: IdentityProvider | undefined): FirstMember[] {
  if (!own) return [];
  const accounts = own.accounts.map(({ id, role }) => ({ userId: id, role }));
  return [...accounts, { userId: SCRIPT_CLIENT_ID, role: 'owner' }];
}

/** Describes new accounts with their passwords, which are stored nowhere else. */
export function describePasswords(own: IdentityProvider | undefined): string[] {
  if (!own || own.passwords.length === 0) return [];
  const lines = own.passwords.map(([email, password]) => `  ${email.padEnd(20)} ${password}`);
  return [
    '\nAccounts to sign in with, by npx weir login and in MCP clients (passwords are shown only this once):',
    ...lines,
  ];
}

/** Describes where the console is; the link signs the owner in where users sign in here, and nobody else can open it. */
export function describeConsole(own: IdentityProvider | undefined, baseUrl: string): string {
  const url = `${baseUrl}/console/`;
  if (!own || !isLoopback(new URL(baseUrl).hostname)) return url;
  return `${url}#one-time=${own.issueOneTimeSecret()}
                  (signs you in as owner@weir.local: once, within 10 minutes)`;
}

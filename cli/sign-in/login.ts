// `weir login`, `weir logout` and `weir whoami`: sessions at services, got from their identity providers.
import type { Command } from 'commander';
import { exchange } from '../api/call-api.ts';
import { type Credential, getCredential } from '../api/credential.ts';
import { getMe, type Me, readMe } from '../api/get-resource.ts';
import { findLocalStart } from '../api/local-start.ts';
import { parseServiceUrl, serviceUrl } from '../api/service-url.ts';
import { describeError } from '../terminal/describe-error.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, note, oneLine, printed } from '../terminal/print.ts';
import {
  keepSession,
  readSessions,
  readUsableSessions,
  type Session,
  withSessionLock,
  writeSessions,
} from './session-store.ts';

const CREDENTIALS: { [source in Credential['source']]: string } = {
  WEIR_OPERATOR_KEY: 'the key in WEIR_OPERATOR_KEY',
  WEIR_TOKEN: 'the token in WEIR_TOKEN',
  WEIR_API_KEY: 'the API key in WEIR_API_KEY',
  'weir login': 'the session of weir login',
  'npm start': 'the credential of the local npm start',
};

export function addLoginCommands(program: Command): void {
  const url = [
    '[url]',
    'address of the service (default: WEIR_URL, else the service of the last login)',
    parseAddress,
  ] as const;
  program
    .command('login')
    .description('sign in to a service; later commands act as you, until weir logout')
    .argument(...url)
    .option('--device', 'sign in with a browser on another machine, using a code')
    .addHelpText('after', '\nExample:\n  weir login https://weir.example.com')
    .action(printed(login));
  program
    .command('logout')
    .description('end the session at a service and delete its tokens')
    .argument(...url)
    .addHelpText('after', '\nExample:\n  weir logout https://weir.example.com')
    .action(printed(logout));
}

async function login(given: string | undefined, { device }: { device?: boolean }): Promise<CommandResult> {
  onInterruption(() => note('You are not signed in: the sign-in was interrupted.'));
  const { sessions, problem } = readUsableSessions();
  const url = given ?? serviceUrl(sessions);
  if (problem !== undefined) note(`${problem} It is replaced once you are signed in.`);
  const session = await signIn(url, device === true);
  const credential = { token: session.accessToken, source: 'weir login' } as const;
  const me = readMe((await exchange('GET', '/api/v1/me', {}, { url, credential })).body, url);
  await keepSession(url, session);
  const overriding = credentialsSet();
  if (overriding.length > 0)
    note(`${overriding.join(' and ')} is set, and commands use that instead of your session.`);
  const who = me.kind === 'user' ? (me.email ?? me.name ?? me.userId) : me.keyId;
  return { json: { service: url, ...me }, text: `Signed in to ${url} as ${who}.` };
}

async function signIn(url: string, device: boolean): Promise<Session> {
  const { getProvider } = await import('./identity-provider.ts');
  const provider = await getProvider(url);
  // Nobody is to sign in for a session that cannot be kept.
  await withSessionLock(async () => undefined);
  if (!device) {
    const { browserSignIn } = await import('./sign-in.ts');
    const session = await browserSignIn(provider);
    if (session) return session;
    note('No browser can be opened here.');
  }
  const { deviceSignIn } = await import('./sign-in.ts');
  return deviceSignIn(provider);
}

async function logout(given: string | undefined): Promise<CommandResult> {
  const url = given ?? serviceUrl();
  const session = await withSessionLock(async () => {
    const { current, services } = readSessions();
    const { [url]: ended, ...others } = services;
    writeSessions({ ...(current !== undefined && current !== url && { current }), services: others });
    return ended;
  });
  sayWhoGoesOn();
  if (!session) return { json: { service: url, ended: false }, text: `You had no session at ${url}.` };
  const { revokeSession } = await import('./identity-provider.ts');
  await revokeSession(session).catch((error: Error) =>
    note(oneLine(`The session is forgotten here, but not at the identity provider: ${error.message}`)),
  );
  return { json: { service: url, ended: true }, text: `Signed out of ${url}.` };
}

/** Says on stderr as whom commands act without the session, where something else signs them in. */
function sayWhoGoesOn(): void {
  const set = credentialsSet();
  const local = findLocalStart();
  const credential = local?.identity
    ? 'as weir-script, an owner of the organization demo'
    : 'with the API key of the project demo/demo';
  if (set.length > 0) note(`Commands go on with ${set[0]}, which is set.`);
  else if (local && serviceUrl() === local.WEIR_URL && !readSessions().services[local.WEIR_URL])
    note(`Commands go on ${credential}, at the local npm start (${local.WEIR_URL}).`);
}

function credentialsSet(): string[] {
  return ['WEIR_OPERATOR_KEY', 'WEIR_TOKEN', 'WEIR_API_KEY'].filter((name) => process.env[name]);
}

function parseAddress(text: string): string {
  try {
    return parseServiceUrl('The address', text);
  } catch (error) {
    throw new UsageError(describeError(error));
  }
}

export function addWhoamiCommand(program: Command): void {
  program
    .command('whoami')
    .description('show the service, the user or API key that commands act as, and its projects')
    .addHelpText('after', '\nExample:\n  weir whoami --json')
    .action(printed(whoami));
}

async function whoami(): Promise<CommandResult> {
  const [service, me] = [serviceUrl(), await getMe()];
  const { source } = await getCredential(service);
  const signIn = source === 'WEIR_API_KEY' ? await findSignIn(service) : undefined;
  const instead = signIn ? `; for what the key may not do, ${CREDENTIALS[signIn]}` : '';
  return {
    json: { service, credential: source, ...(signIn && { signIn }), ...me },
    text: `${describe(me)}\n${service}, with ${CREDENTIALS[source]}${instead}\n\n${listProjects(me).join('\n')}`,
  };
}

/** Finds the sign-in that commands use for what WEIR_API_KEY may not do. */
async function findSignIn(service: string): Promise<Credential['source'] | undefined> {
  return (await getCredential(service, { jwtOnly: true }).catch(() => undefined))?.source;
}

function describe(me: Me): string {
  if (me.kind === 'api_key') return `API key weir_${me.environment}_${me.keyId} (${oneLine(me.name)})`;
  if (me.kind === 'operator') return `Operator’s key weir_operator_${me.keyId} (${oneLine(me.name)})`;
  const known = [me.name, me.email].filter((one) => one !== null);
  return `User ${me.userId}${known.length > 0 ? ` (${oneLine(known.join(', '))})` : ''}`;
}

function listProjects(me: Me): string[] {
  if (me.kind === 'api_key') return [`${me.organization.slug}/${me.project.slug}`];
  if (me.kind === 'operator') return ['Every organization: weir operator org list shows them.'];
  const lines = me.organizations.flatMap(({ slug, role, projects }) => [
    `${slug} (${role})`,
    ...projects.map((project) => `  ${slug}/${project.slug}`),
  ]);
  if (lines.length === 0) lines.push('You belong to no organization.');
  const invited = me.invitations.map(
    ({ id, role, organization: { slug, name } }) =>
      `Invited to ${slug} (${oneLine(name)}) as ${role}: weir invitation accept ${id}`,
  );
  const more = me.operator ? ['An operator of the service may access every organization.'] : [];
  return [...lines, ...(me.hasMore ? ['…'] : []), ...invited, ...more];
}

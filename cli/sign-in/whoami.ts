import type { Command } from 'commander';
import { type Credential, getCredential } from '../api/credential.ts';
import { getMe, type Me } from '../api/get-me.ts';
import { serviceUrl } from '../api/service-url.ts';
import { oneLine } from '../terminal/format-table.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';

export function addWhoamiCommand(program: Command): void {
  program
    .command('whoami')
    .description('show the service, the user or API key that commands act as, and its projects')
    .addHelpText('after', '\nExample:\n  weir whoami --json')
    .action(printed(whoami));
}

const CREDENTIALS: { [source in Credential['source']]: string } = {
  WEIR_TOKEN: 'the token in WEIR_TOKEN',
  WEIR_API_KEY: 'the API key in WEIR_API_KEY',
  'weir login': 'the session of weir login',
  'npm start': 'the credential of the local npm start',
};

async function whoami(): Promise<CommandResult> {
  const [service, me] = [serviceUrl(), await getMe()];
  const { source } = await getCredential(service);
  return {
    json: { service, credential: source, ...me },
    text: `${describe(me)}\n${service}, with ${CREDENTIALS[source]}\n\n${listProjects(me).join('\n')}`,
  };
}

function describe(me: Me): string {
  if (me.kind === 'api_key') return `API key weir_${me.environment}_${me.keyId} (${oneLine(me.name)})`;
  const known = [me.name, me.email].filter((one) => one !== null);
  return `User ${me.userId}${known.length > 0 ? ` (${oneLine(known.join(', '))})` : ''}`;
}

function listProjects(me: Me): string[] {
  if (me.kind === 'api_key') return [`${me.organization.slug}/${me.project.slug}`];
  const lines = me.organizations.flatMap(({ slug, role, projects }) => [
    `${slug} (${role})`,
    ...projects.map((project) => `  ${slug}/${project.slug}`),
  ]);
  if (lines.length === 0) lines.push('You belong to no organization.');
  const invited = me.invitations.map(
    ({ id, role, organization: { slug, name } }) =>
      `Invited to ${slug} (${oneLine(name)}) as ${role}: weir invitation accept ${id}`,
  );
  return [...lines, ...(me.hasMore ? ['…'] : []), ...invited];
}

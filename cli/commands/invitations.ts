import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type {
  invitationRecord,
  joinedRecord,
  newInvitation,
} from '../../api/organizations/invitation-schemas.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { organizationPath } from '../api/get-resource.ts';
import { ORG, parseId } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, oneLine, printed } from '../terminal/print.ts';

const ID = [
  '<invitationId>',
  'id of the invitation',
  parseId('an invitation', 'weir invitation list or weir whoami'),
] as const;

type Invitation = z.output<typeof invitationRecord>;

export function addInvitationCommands(program: Command): void {
  const invitation = program
    .command('invitation')
    .description('invite people to an organization by e-mail address, and accept invitations');
  invitation
    .command('create')
    .description('create an invitation and print a text to send yourself; no e-mail is sent')
    .argument(...ORG)
    .argument('<email>', 'e-mail address that the person signs in with')
    .addOption(
      new Option('--role <role>', 'role in the organization').choices(['admin', 'member']).default('member'),
    )
    .addHelpText('after', '\nExample:\n  weir invitation create acme bea@example.com --role admin')
    .action(printed(create));
  invitation
    .command('list')
    .description('list invitations that are not accepted yet')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir invitation list acme')
    .action(printed(list));
  invitation
    .command('revoke')
    .description('revoke an invitation, so that it cannot be accepted')
    .argument(...ORG)
    .argument(...ID)
    .addHelpText('after', '\nExample:\n  weir invitation revoke acme c0a5d2f4-52a5-4c3e-9a61-0f1d6b1a7e21')
    .action(printed(revoke));
  invitation
    .command('accept')
    .description('accept an invitation to your verified e-mail address; weir whoami lists them')
    .argument(...ID)
    .addHelpText('after', '\nExample:\n  weir invitation accept c0a5d2f4-52a5-4c3e-9a61-0f1d6b1a7e21')
    .action(printed(accept));
}

async function create(
  org: string,
  email: string,
  { role }: { role: 'admin' | 'member' },
): Promise<CommandResult> {
  const body = { email, role };
  const json = await callApi<z.output<typeof newInvitation>>(
    'POST',
    await organizationPath(org, 'invitations'),
    { body },
  );
  return { json, text: `Invited ${json.email} to ${org} as ${role}. Send this:\n\n${json.message}` };
}

async function list(org: string): Promise<CommandResult> {
  const invitations = await listAll<Invitation>(await organizationPath(org, 'invitations'), 'invitations');
  return {
    json: invitations,
    text: formatTable(
      ['id', 'email', 'role', 'state', 'expires'],
      invitations.map(({ id, email, role, state, expiresAt }) => [
        ...[id, email, role, state],
        formatTime(expiresAt),
      ]),
      'There are no invitations.',
    ),
  };
}

async function revoke(org: string, id: string): Promise<CommandResult> {
  await callApi('DELETE', await organizationPath(org, `invitations/${id}`));
  return { json: { organization: org, id }, text: `Revoked the invitation ${id}.` };
}

async function accept(id: string): Promise<CommandResult> {
  const path = `/api/v1/invitations/${id}/accept`;
  const json = await callApi<z.output<typeof joinedRecord>>('POST', path);
  const { organization, role } = json;
  return { json, text: `You have joined ${organization.slug} (${oneLine(organization.name)}) as ${role}.` };
}

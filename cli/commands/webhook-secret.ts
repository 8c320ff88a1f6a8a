import type { Command } from 'commander';
import type { z } from 'zod';
import type { rotatedSecret, secretRecord } from '../../api/webhooks/schemas.ts';
import { callApi } from '../api/call-api.ts';
import { getOrganization } from '../api/get-by-path.ts';
import { formatTime } from '../terminal/format-table.ts';
import { type CommandResult, printed } from '../terminal/print-result.ts';

const ORG = ['<org>', 'slug of the organization'] as const;

export function addWebhookSecretCommands(program: Command): void {
  const secret = program
    .command('webhook-secret')
    .description('show and rotate the secret that signs webhooks');
  secret
    .command('show')
    .description('show the signing secret, masked')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir webhook-secret show acme')
    .action(printed(showSecret));
  secret
    .command('rotate')
    .description('create a new signing secret and print it; the old one still signs for 24 hours')
    .argument(...ORG)
    .option('--no-grace', 'stop signing with the old secret at once, for example after a leak')
    .addHelpText('after', '\nExample:\n  weir webhook-secret rotate acme')
    .action(printed(rotate));
}

async function showSecret(org: string): Promise<CommandResult> {
  const secret = await callApi<z.output<typeof secretRecord>>('GET', await secretPath(org));
  const until = secret.graceUntil ? `; the one before signs until ${formatTime(secret.graceUntil)}` : '';
  return { json: secret, text: `${secret.secretPreview}, version ${secret.version}${until}` };
}

async function rotate(org: string, { grace }: { grace: boolean }): Promise<CommandResult> {
  const path = `${await secretPath(org)}/rotate`;
  const secret = await callApi<z.output<typeof rotatedSecret>>('POST', path, {
    query: { grace: String(grace) },
  });
  return { json: secret, text: `${secret.newSecret}\nKeep the secret now: it cannot be shown again.` };
}

async function secretPath(org: string): Promise<string> {
  return `/api/v1/organizations/${(await getOrganization(org)).id}/webhooks/secret`;
}

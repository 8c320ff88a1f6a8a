import type { Command } from 'commander';
import { connect } from '../../db/connect.ts';
import { ensureSigningSecret } from '../../db/webhooks/webhook-secrets.ts';
import { createEncryption } from '../../platform/secrets/encrypt.ts';
import { addReceiveOptions, type ReceiveOptions, receiveWebhooks } from '../listen/receive-webhooks.ts';
import { databaseUrl, secretsKeys } from './environment.ts';
import { getOrganization, operator } from './on-database.ts';

export function addListenCommand(group: Command): void {
  const listen = group
    .command('listen')
    .description(
      'receive webhooks on this machine, verify them with the signing secret in the database, print them',
    )
    .argument('<org>', 'organization whose signing secret is used');
  addReceiveOptions(listen).action(receive);
}

async function receive(org: string, options: ReceiveOptions): Promise<void> {
  const db = connect(databaseUrl(), 1);
  const encryption = createEncryption(secretsKeys());
  const { id } = await getOrganization(db, org);
  await receiveWebhooks(
    async () => (await ensureSigningSecret(db, encryption, id, operator())).current,
    options,
  );
}

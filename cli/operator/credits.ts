import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { type Db, inTransaction } from '../../db/connect.ts';
import { grantCredits, MICROCREDITS_PER_CREDIT } from '../../db/credits/ledger.ts';
import { recordChange } from '../../db/tenants/audit-entries.ts';
import { parseName } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print-result.ts';
import { getOrganization } from './find-by-path.ts';
import { onDatabase } from './on-database.ts';
import { operator } from './operator.ts';

const GRANT_MAX_CREDITS = 1_000_000_000;

export function addCreditCommands(program: Command): void {
  program
    .command('credits')
    .description('grant credits to organizations')
    .command('grant')
    .description('add credits to the balance of an organization')
    .argument('<org>', 'slug of the organization')
    .argument('<credits>', 'how many credits, with at most six decimal places', parseCredits)
    .option('--key <key>', 'idempotency key: a second grant with the same key changes nothing', parseName)
    .action(onDatabase(grant));
}

async function grant(
  db: Db,
  slug: string,
  microcredits: number,
  options: { key?: string },
): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const key = options.key ?? randomUUID();
  const details = { credits: microcredits / MICROCREDITS_PER_CREDIT, key };
  const result = await inTransaction(db, async (tx) => {
    const grant = await grantCredits(tx, id, microcredits, `grant/${key}`);
    const change = { organizationId: id, action: 'credits.grant', resourceId: id, details };
    if (grant.granted) await recordChange(tx, operator(), change);
    return grant;
  });
  const balance = result.balanceMicrocredits / MICROCREDITS_PER_CREDIT;
  const what = result.granted
    ? `Granted ${details.credits} credits to ${slug}`
    : `A grant with this key was made before, so nothing changed for ${slug}`;
  return {
    json: { organization: slug, granted: result.granted, balance },
    text: `${what}; its balance is ${balance}.`,
  };
}

function parseCredits(text: string): number {
  const amount = Math.round(Number(text) * MICROCREDITS_PER_CREDIT);
  if (
    !/^\d+(?:\.\d{1,6})?$/.test(text) ||
    amount === 0 ||
    amount > GRANT_MAX_CREDITS * MICROCREDITS_PER_CREDIT
  )
    throw new InvalidArgumentError(
      `Give a number above 0 and up to ${GRANT_MAX_CREDITS}, with at most six decimal places.`,
    );
  return amount;
}

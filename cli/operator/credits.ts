import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { addCredits } from '../../api/organizations/recorded-organizations.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { CREDITS_MAX, MICROCREDITS_PER_CREDIT, toMicrocredits } from '../../flow/credit-amount.ts';
import { parseName } from '../terminal/parse-argument.ts';
import type { CommandResult } from '../terminal/print.ts';
import { getOrganization, onDatabase, operator } from './on-database.ts';

export function addCreditCommands(program: Command): void {
  program
    .command('credits')
    .description('grant credits to organizations')
    .command('grant')
    .description('add credits to the balance of an organization')
    .argument('<org>', 'slug of the organization')
    .argument('<credits>', 'how many credits, with at most six decimal places', parseCredits)
    .option('--idempotency-key <key>', 'a second grant with the same key changes nothing', parseName)
    .action(onDatabase(grant));
}

async function grant(
  db: Db,
  slug: string,
  microcredits: number,
  { idempotencyKey: key = randomUUID() }: { idempotencyKey?: string },
): Promise<CommandResult> {
  const { id } = await getOrganization(db, slug);
  const result = await inTransaction(db, (tx) =>
    addCredits(tx, operator(), { organizationId: id, microcredits, key }),
  );
  const balance = result.balanceMicrocredits / MICROCREDITS_PER_CREDIT;
  const what = result.granted
    ? `Granted ${microcredits / MICROCREDITS_PER_CREDIT} credits to ${slug}`
    : `A grant with this key was made before, so nothing changed for ${slug}`;
  return {
    json: { organization: slug, granted: result.granted, balance },
    text: `${what}; its balance is ${balance}.`,
  };
}

function parseCredits(text: string): number {
  const amount = toMicrocredits(Number(text));
  if (!/^\d+(?:\.\d{1,6})?$/.test(text) || amount === 0 || amount > toMicrocredits(CREDITS_MAX))
    throw new InvalidArgumentError(
      `Give a number above 0 and up to ${CREDITS_MAX}, with at most six decimal places.`,
    );
  return amount;
}

import { randomUUID } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import type { Db } from '../db/connect.ts';
import { grantCredits, MICROCREDITS_PER_CREDIT } from '../db/ledger.ts';
import { type Answer, answering } from './answer.ts';
import * as check from './check-text.ts';
import { getOrganization } from './find-by-path.ts';

const GRANT_MAX_CREDITS = 1_000_000_000;

export function addCreditCommands(program: Command): void {
  program
    .command('credits')
    .description('what organizations may spend')
    .command('grant')
    .description('add credits to a balance')
    .argument('<org>')
    .argument('<credits>', 'to six decimal places', credits)
    .option('--key <key>', 'a repeated grant with the same key changes nothing', check.name)
    .action(answering(grant));
}

async function grant(db: Db, slug: string, microcredits: number, options: { key?: string }): Promise<Answer> {
  const { id } = await getOrganization(db, slug);
  const result = await grantCredits(db, id, microcredits, `grant/${options.key ?? randomUUID()}`);
  const balance = result.balanceMicrocredits / MICROCREDITS_PER_CREDIT;
  const what = result.granted
    ? `Granted ${microcredits / MICROCREDITS_PER_CREDIT} credits to ${slug}`
    : `A grant with this key was made before: nothing changed for ${slug}`;
  return {
    json: { organization: slug, granted: result.granted, balance },
    text: `${what}; its balance is ${balance}.`,
  };
}

function credits(text: string): number {
  const amount = Math.round(Number(text) * MICROCREDITS_PER_CREDIT);
  if (
    !/^\d+(?:\.\d{1,6})?$/.test(text) ||
    amount === 0 ||
    amount > GRANT_MAX_CREDITS * MICROCREDITS_PER_CREDIT
  )
    throw new InvalidArgumentError(
      `It is a number over 0, at most ${GRANT_MAX_CREDITS}, to six decimal places.`,
    );
  return amount;
}

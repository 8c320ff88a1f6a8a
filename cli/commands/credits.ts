import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { creditAccount, grantRecord, ledgerEntry } from '../../api/organizations/credit-schemas.ts';
import { UUID_PATTERN } from '../../flow/limits.ts';
import { callApi, exchange, listAll } from '../api/call-api.ts';
import { getOrganization } from '../api/get-resource.ts';
import { AnswerLost } from '../api/to-error.ts';
import { parseRunId, parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';
import { parseIdempotencyKey, parseMaxCredits } from './run-request.ts';

const LIMIT_MAX = 10_000;
const ORG = ['<org>', 'slug of the organization'] as const;

export function addCreditCommands(program: Command): void {
  const credits = program.command('credits').description('show and grant credits');
  credits
    .command('show')
    .description('show the balance of an organization')
    .argument(...ORG)
    .addHelpText('after', '\nExample:\n  weir credits show acme')
    .action(printed(show));
  credits
    .command('ledger')
    .description('list grants and charges, newest first')
    .argument(...ORG)
    .addOption(new Option('--kind <kind>', 'only grants, or only charges').choices(['grant', 'charge']))
    .option('--run <executionId>', 'only charges of this run', parseRunId)
    .option('--since <time>', 'only entries made at this time or later, e.g. 2030-01-31', parseTime)
    .option('--limit <number>', 'how many entries to list', parseWholeNumber(1, LIMIT_MAX), 50)
    .addHelpText('after', '\nExample:\n  weir credits ledger acme --kind grant')
    .action(printed(ledger));
  credits
    .command('grant')
    .description('add credits to a balance; only for operators of the service')
    .argument('<org>', 'slug or id of the organization')
    .argument('<credits>', 'how many credits, with at most six decimal places', parseMaxCredits)
    .option(
      '--idempotency-key <key>',
      'a second grant with the same key changes nothing',
      parseIdempotencyKey,
    )
    .addHelpText('after', '\nExample:\n  weir credits grant acme 1000 --idempotency-key invoice-17')
    .action(printed(grant));
}

async function show(org: string): Promise<CommandResult> {
  const account = await callApi<z.output<typeof creditAccount>>('GET', await creditsPath(org));
  const { balance, reserved, low, lowBalanceMark } = account;
  const warning = low ? `\nThat is below the mark of ${lowBalanceMark} credits.` : '';
  const text = `${balance} credits, of which ${reserved} are set aside for model calls under way.${warning}`;
  return { json: account, text };
}

type LedgerOptions = { kind?: string; run?: string; since?: Date; limit: number };

async function ledger(org: string, { run, limit, kind, since }: LedgerOptions): Promise<CommandResult> {
  const path = `${await creditsPath(org)}/ledger`;
  const query = { kind, since, execution_id: run };
  const entries = await listAll<z.output<typeof ledgerEntry>>(path, 'entries', { limit, query });
  return {
    json: entries,
    text: formatTable(
      ['at', 'credits', 'run or key of a grant', 'block'],
      entries.map((entry) => [
        formatTime(entry.at),
        entry.credits,
        entry.executionId ?? entry.key,
        entry.block ?? '',
      ]),
      'There are no entries.',
    ),
  };
}

/** Grants credits; a request whose answer is lost is sent once more, with the same key. */
async function grant(
  org: string,
  credits: number,
  { idempotencyKey }: { idempotencyKey?: string },
): Promise<CommandResult> {
  const key = idempotencyKey ?? randomUUID();
  const path = `${await creditsPath(org)}/grants`;
  const send = () =>
    exchange<z.output<typeof grantRecord>>('POST', path, {
      body: { credits },
      headers: { 'idempotency-key': key },
    });
  let isRepeated = false;
  const { headers, body } = await send()
    .catch((error) => {
      if (!(error instanceof AnswerLost)) throw error;
      isRepeated = true;
      return send();
    })
    .catch((error) => {
      if (!(error instanceof AnswerLost)) throw error;
      throw new AnswerLost(`${error.message} With --idempotency-key ${key} it is granted only once.`);
    });
  // The grant that a repeated request finds is most likely this command's own.
  const replayed = !isRepeated && headers.has('idempotent-replayed');
  const what = replayed
    ? `A grant with this key was made before, so nothing changed for ${org}`
    : `${org} has been granted ${credits} credits`;
  return { json: { ...body, replayed }, text: `${what}; its balance is ${body.balance}.` };
}

async function creditsPath(org: string): Promise<string> {
  // An operator of the service may not be a member, and then knows the organization by its id alone.
  const id = UUID_PATTERN.test(org) ? org : (await getOrganization(org)).id;
  return `/api/v1/organizations/${id}/credits`;
}

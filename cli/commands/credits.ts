import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { creditAccount, ledgerEntry } from '../../api/organizations/credit-schemas.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { organizationPath } from '../api/get-resource.ts';
import { ORG, parseRunId, parseTime, parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';
import { TOKEN_COLUMNS, tokenCells } from '../terminal/tables.ts';

const LIMIT_MAX = 10_000;

export function addCreditCommands(program: Command): void {
  const credits = program.command('credits').description('show credits and what they were spent on');
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
}

async function show(org: string): Promise<CommandResult> {
  const account = await callApi<z.output<typeof creditAccount>>(
    'GET',
    await organizationPath(org, 'credits'),
  );
  const { balance, reserved, low, lowBalanceMark } = account;
  const warning = low ? `\nThat is below the mark of ${lowBalanceMark} credits.` : '';
  const text = `${balance} credits, of which ${reserved} are set aside for model calls under way.${warning}`;
  return { json: account, text };
}

type LedgerOptions = { kind?: string; run?: string; since?: Date; limit: number };

async function ledger(org: string, { run, limit, kind, since }: LedgerOptions): Promise<CommandResult> {
  const path = await organizationPath(org, 'credits/ledger');
  const query = { kind, since, execution_id: run };
  const entries = await listAll<z.output<typeof ledgerEntry>>(path, 'entries', { limit, query });
  return {
    json: entries,
    text: formatTable(
      ['at', 'credits', 'run or key of a grant', 'block', ...TOKEN_COLUMNS],
      entries.map((entry) => [
        formatTime(entry.at),
        entry.credits,
        entry.executionId ?? entry.key,
        entry.block ?? '',
        ...tokenCells(entry.tokens),
      ]),
      'There are no entries.',
    ),
  };
}

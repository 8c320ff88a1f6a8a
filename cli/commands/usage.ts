import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { usageDay, usageDimension } from '../../api/organizations/usage-fields.ts';
import type { usageReport } from '../../api/organizations/usage-schemas.ts';
import { DRAFT_VERSION } from '../../flow/definition.ts';
import { listAll } from '../api/call-api.ts';
import { organizationPath, projectPath } from '../api/get-resource.ts';
import { parseField, UsageError } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, printed } from '../terminal/print.ts';
import { TOKEN_COLUMNS, tokenCells } from '../terminal/tables.ts';

type Entry = z.output<typeof usageReport>['entries'][number];
type Options = { by: string; from?: string; to?: string };

export function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('show what an organization or project has used: credits, runs, tokens')
    .argument('<path>', 'org or org/project')
    .addOption(
      new Option('--by <dimension>', 'how to group the sums').choices(usageDimension.options).default('day'),
    )
    .option(
      '--from <day>',
      'first day (UTC), e.g. 2030-01-31 (default: 29 days before the last)',
      parseField(usageDay),
    )
    .option('--to <day>', 'last day (UTC; default: today)', parseField(usageDay))
    .addHelpText('after', '\nExample:\n  weir usage acme/main --by flow --from 2030-01-01')
    .action(printed(show));
}

async function show(path: string, { by, from, to }: Options): Promise<CommandResult> {
  if (path.split('/').length > 2 || path.split('/').includes(''))
    throw new UsageError(`${JSON.stringify(path)} must be a path: org or org/project.`);
  const url = await (path.includes('/') ? projectPath : organizationPath)(path, 'usage');
  const entries = await listAll<Entry>(url, 'entries', { query: { by, from, to } });
  return {
    json: entries,
    text: formatTable(
      [by, 'credits', 'runs', 'failed', 'cancelled', 'refused', 'model calls', ...TOKEN_COLUMNS],
      entries.map((entry) => [
        labelOf(entry),
        entry.credits,
        ...[entry.runs, entry.failedRuns, entry.cancelledRuns, entry.refusedRuns],
        entry.modelCalls,
        ...tokenCells(entry),
      ]),
      'Nothing was used.',
    ),
  };
}

function labelOf({ day, model, keyId, name, project, flowId, projectId, version }: Entry): string {
  if (day) return day;
  if (model !== undefined) return model ?? 'code';
  if (keyId === null) return 'users and test runs';
  const label = name ? [project, name].filter(Boolean).join('/') : (keyId ?? flowId ?? projectId ?? '');
  if (version === undefined) return label;
  return `${label} ${version === DRAFT_VERSION ? 'draft' : `v${version}`}`;
}

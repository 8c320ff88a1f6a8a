import { type Command, Option } from 'commander';
import {
  errorGroupFilter,
  idFilter,
  keyFilter,
  minCostFilter,
  searchFilter,
} from '../../api/runs/run-filters.ts';
import { OPEN_RUN_STATUSES, RUN_MODES, RUN_OUTCOMES, RUN_STATUSES } from '../../db/schema.ts';
import { VERSION_MAX } from '../../flow/limits.ts';
import { FEW } from '../terminal/bulk-runs.ts';
import {
  EXAMPLE_ID,
  parseBulkId,
  parseErrorCode,
  parseField,
  parseRunId,
  parseRunIds,
  parseTime,
  parseVersionChoice,
  parseVersionNumber,
  parseWholeNumber,
  UsageError,
} from '../terminal/parse-argument.ts';
import { type CommandResult, printed } from '../terminal/print.ts';

import { addBulkCommands } from './bulk-retries.ts';
import { type BulkOptions, changeRuns } from './change-runs.ts';
import { listErrors } from './list-run-errors.ts';
import { list } from './list-runs.ts';
import { parseIdempotencyKey } from './run-request.ts';
import { cancelEach, fork, type RepeatOptions, repeat, show, showBlock } from './stored-run.ts';

const LIMIT_MAX = 10_000;
const GROUPS_MAX = 200;
const RETRIED_MAX = 1_000_000;
const STEP_INDEX_MAX = 999_999;
const RUN = ['<executionId>', 'id of the run', parseRunId] as const;

export function addRunsCommands(program: Command): void {
  const runs = program.command('runs').description('list, show, cancel, fork and repeat runs');
  runs
    .command('list')
    .description('list runs, newest first')
    .argument('[path]', 'only the runs of org, org/project or org/project/flow')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(RUN_STATUSES))
    .addOption(new Option('--outcome <outcome>', 'only runs that ended like this').choices(RUN_OUTCOMES))
    .addOption(new Option('--mode <mode>', 'only runs of this mode').choices(RUN_MODES))
    .addOption(new Option('--environment <name>', 'only runs of this environment').choices(['live', 'test']))
    .option(
      '--version <number>',
      'only runs of this version; 0: runs of drafts',
      parseWholeNumber(0, VERSION_MAX),
    )
    .option('--key <keyId>', 'only runs that this API key started', parseField(keyFilter))
    .option('--since <time>', 'only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'only runs started before this time', parseTime)
    .option('--min-cost <credits>', 'only runs with at least this cost', parseField(minCostFilter))
    .option(
      '--id <start>',
      'only runs whose id begins with this text (at least 6 characters)',
      parseField(idFilter),
    )
    .option(
      '--search <text>',
      'only runs with this text in message or error, or these 8 or more characters of their id',
      parseField(searchFilter),
    )
    .option(
      '--error-group <group>',
      'only failed runs of this group of weir runs errors',
      parseField(errorGroupFilter),
    )
    .option('--bulk <bulkId>', 'only runs that this bulk retry started', parseBulkId)
    .option('--stuck', 'only runs that make no progress, with the reason')
    .option('--all-organizations', 'runs of every organization; for operators')
    .option('--limit <number>', 'how many runs to list', parseWholeNumber(1, LIMIT_MAX), 20)
    .addHelpText('after', '\nExample:\n  weir runs list acme/main --status failed --since 2030-01-31')
    .action(printed(list));
  runs
    .command('errors')
    .description('group failed runs by what went wrong, the most frequent first')
    .argument('<path>', 'the runs of org/project or org/project/flow')
    .addOption(
      new Option('--outcome <outcome>', 'only runs that ended like this').choices(['failed', 'refused']),
    )
    .addOption(new Option('--mode <mode>', 'only runs of this mode').choices(RUN_MODES))
    .addOption(new Option('--environment <name>', 'only runs of this environment').choices(['live', 'test']))
    .option('--version <number>', 'only runs of this version', parseVersionNumber)
    .option('--key <keyId>', 'only runs that this API key started', parseField(keyFilter))
    .option('--since <time>', 'only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'only runs started before this time', parseTime)
    .option('--limit <number>', 'how many groups to list', parseWholeNumber(1, GROUPS_MAX), 20)
    .addHelpText('after', '\nExample:\n  weir runs errors acme/main/hello --since 2030-01-31')
    .action(printed(listErrors));
  runs
    .command('show')
    .description('show a run, its blocks and its result')
    .argument(...RUN)
    .addHelpText('after', `\nExample:\n  weir runs show ${EXAMPLE_ID}`)
    .action(printed(show));
  runs
    .command('block')
    .description('show the input, request and output of a block of a run')
    .argument(...RUN)
    .argument('<key>', 'the block, as weir runs show prints it')
    .addOption(
      new Option('--value <value>', 'print only this value, in full').choices(['input', 'sent', 'output']),
    )
    .addHelpText('after', `\nExample:\n  weir runs block ${EXAMPLE_ID} summarize --value output`)
    .action(printed(showBlock));
  addBulkOptions(
    runs
      .command('cancel')
      .description('cancel runs by id or by filter; they end within seconds')
      .argument('[executionId...]', 'ids of the runs', parseRunIds),
    'cancel',
  )
    .addHelpText(
      'after',
      `\nExamples:\n  weir runs cancel ${EXAMPLE_ID}\n  weir runs cancel --flow acme/main/hello --status started --dry-run`,
    )
    .action(printed(cancelSome));
  runs
    .command('fork')
    .description('print the request that continues a run in a new …/step session')
    .argument(...RUN)
    .requiredOption(
      '--step <index>',
      'index of the step to begin with, from 0',
      parseWholeNumber(0, STEP_INDEX_MAX),
    )
    .addHelpText('after', `\nExample:\n  weir runs fork ${EXAMPLE_ID} --step 2`)
    .action(printed(fork));
  addRepeat(
    runs.command('rerun').argument('<executionId...>', 'ids of the runs', parseRunIds),
    'start runs again from their beginning, with the same input',
  )
    .addHelpText('after', `\nExample:\n  weir runs rerun ${EXAMPLE_ID} --on-version production`)
    .action(printed((ids: string[], options: RepeatOptions) => repeat('rerun', ids, options)));
  addBulkOptions(
    addRepeat(
      runs.command('retry').argument('[executionId...]', 'ids of the runs', parseRunIds),
      'start failed runs again from the step that failed',
    ),
    'retry',
  )
    .addHelpText(
      'after',
      `\nExamples:\n  weir runs retry ${EXAMPLE_ID}\n  weir runs retry --failed --flow acme/main/hello --since 2030-01-31 --dry-run`,
    )
    .action(printed(retrySome));
  addBulkCommands(runs);
}

/** Options that find no runs. */
const HOW_OPTIONS = ['dryRun', 'yes'];

function addRepeat(command: Command, description: string): Command {
  return command
    .description(description)
    .option(
      '--on-version <version>',
      'version of the new runs: original (default), production or a number',
      parseVersionChoice,
    )
    .option(
      '--idempotency-key <key>',
      'key that makes a repeated command return the same runs',
      parseIdempotencyKey,
    );
}

function retrySome(
  ids: string[],
  options: BulkOptions & RepeatOptions & { failed?: boolean },
): Promise<CommandResult> {
  const { failed = false, idempotencyKey, onVersion, json: _, ...filter } = options;
  requireIdsOrFilter(ids, failed, filter, '--failed');
  if (!failed) return repeat('retry', ids, options);
  if (idempotencyKey !== undefined)
    throw new UsageError('--failed takes no --idempotency-key: it retries each run once in any case.');
  return changeRuns('retry', { ...filter, ...(onVersion !== undefined && { onVersion }) });
}

async function cancelSome(
  ids: string[],
  { all = false, json: _, ...filter }: BulkOptions & { all?: boolean },
): Promise<CommandResult> {
  const byFilter =
    all || (ids.length === 0 && Object.keys(filter).some((name) => !HOW_OPTIONS.includes(name)));
  requireIdsOrFilter(ids, byFilter, filter, '--all');
  return byFilter ? changeRuns('cancel', filter) : cancelEach(ids);
}

/** Adds the filter options of a command that can change many runs. */
function addBulkOptions(command: Command, how: 'retry' | 'cancel'): Command {
  if (how === 'retry')
    command
      .option('--failed', 'all matching failed runs, each once')
      .option('--limit <number>', 'maximum number of runs', parseWholeNumber(1, RETRIED_MAX))
      .addOption(
        new Option(
          '--outcome <outcome>',
          'only runs that ended like this; by default failed and refused ones',
        ).choices(['failed', 'refused', 'cancelled']),
      )
      .addOption(
        new Option('--error-code <code>', 'only runs that failed with this code').argParser(parseErrorCode),
      )
      .option(
        '--error-group <group>',
        'only runs of this group of weir runs errors',
        parseField(errorGroupFilter),
      );
  else
    command
      .option('--all', 'all matching runs that have not ended')
      .addOption(new Option('--status <status>', 'only runs with this status').choices(OPEN_RUN_STATUSES));
  return command
    .option('--flow <path>', 'only runs of org/project/flow')
    .option('--project <path>', 'only runs of org/project')
    .option('--organization <org>', 'runs of every project of an organization')
    .option('--all-organizations', 'runs of every organization; for operators')
    .addOption(new Option('--mode <mode>', 'only runs of this mode').choices(RUN_MODES))
    .addOption(new Option('--environment <name>', 'only runs of this environment').choices(['live', 'test']))
    .option('--version <number>', 'only runs of this version', parseVersionNumber)
    .option('--since <time>', 'only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--until <time>', 'only runs started before this time', parseTime)
    .option('--dry-run', 'list matching runs without changing them')
    .option('--yes', `do not ask before more than ${FEW} runs of an organization, or of all`);
}

/** Throws UsageError unless a command got either ids, or options that find runs: `option` says that these are meant. */
function requireIdsOrFilter(ids: string[], byFilter: boolean, filter: object, option: string): void {
  const names = Object.keys(filter);
  if (ids.length > 0 && (byFilter || names.length > 0))
    throw new UsageError('Give ids of runs, or options that find them, not both.');
  if (ids.length === 0 && !byFilter)
    throw new UsageError(
      names.length > 0 && option === '--failed'
        ? 'Add --failed to retry all failed runs that these options find.'
        : `Give ids of runs, or ${option} with options that find them.`,
    );
}

import { type Command, Option } from 'commander';
import { describeBlockExecution } from '../../api/runs/run-shapes/block-answers.ts';
import { describeBlockUnderWay } from '../../api/runs/run-shapes/block-under-way.ts';
import { describeRunError } from '../../api/runs/run-shapes/describe-run.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { listBlockRuns } from '../../db/runs/block-runs.ts';
import { listBlockInputs, readOutputText } from '../../db/runs/block-traces.ts';
import { listBlocksUnderWay } from '../../db/runs/blocks-under-way.ts';
import { findListedRun, type ListedRun, listRuns } from '../../db/runs/list-runs.ts';
import { getRunInput } from '../../db/runs/runs.ts';
import { OPEN_RUN_STATUSES, RUN_STATUSES, type RunStatus } from '../../db/schema.ts';
import { readResult } from '../../db/stored-values/load-references.ts';
import { MICROCREDITS_PER_CREDIT } from '../../flow/credit-amount.ts';
import type { Json } from '../../flow/definition.ts';
import { ServiceError } from '../../flow/errors.ts';
import { ObjectStoreUnavailable } from '../../platform/object-store/object-store.ts';
import {
  parseErrorCode,
  parseRunId,
  parseRunIds,
  parseTime,
  parseWholeNumber,
  splitScope,
  UsageError,
} from '../terminal/parse-argument.ts';
import { type CommandResult, formatTime, oneLine } from '../terminal/print.ts';
import { blockTable, runTable, underWayLine } from '../terminal/tables.ts';
import { cancelMatching, cancelRun } from './cancel-runs.ts';
import { onDatabase, operator } from './on-database.ts';
import { addScopeOptions, getScope, requirePath, type ScopeOptions } from './run-scope.ts';

const LIST_MAX = 1000;
const RETRY_MAX = 1_000_000;
const RESULT_MAX_CHARS = 2_000;

export function addRunsCommands(program: Command): void {
  const runs = program.command('runs').description('list, show, retry and cancel runs');
  runs
    .command('list')
    .description('list runs, newest first')
    .argument('[path]', 'list only the runs of org, org/project or org/project/flow')
    .addOption(new Option('--status <status>', 'list only runs with this status').choices(RUN_STATUSES))
    .option('--since <time>', 'list only runs started at this time or later, e.g. 2030-01-31', parseTime)
    .option('--stuck', 'list only runs that make no progress, with the reason and what to do')
    .option(
      '--limit <number>',
      `how many runs to list, at most ${LIST_MAX}`,
      parseWholeNumber(1, LIST_MAX),
      20,
    )
    .action(onDatabase(list));
  runs
    .command('show')
    .description('show a run and its blocks')
    .argument('<executionId>', 'id of the run', parseRunId)
    .option('--full', 'include the input and output of each block, and all of a long result')
    .action(onDatabase(show));
  addScopeOptions(
    runs
      .command('retry')
      .description(
        'start failed runs again from the step that failed, each once; a worker does so within a minute',
      )
      .argument('[executionId...]', 'ids of the runs', parseRunIds)
      .addOption(
        new Option('--error-code <code>', 'only runs that failed with this code').argParser(parseErrorCode),
      )
      .option('--limit <number>', 'maximum number of runs, newest first', parseWholeNumber(1, RETRY_MAX)),
    'failed runs',
  ).action(onDatabase(retrySome));
  addScopeOptions(
    runs
      .command('cancel')
      .description(
        'cancel one run, or all unfinished runs and test runs that match, including runs that wait for their caller; they end while a worker runs',
      )
      .argument('[executionId]', 'id of the run', parseRunId)
      .addOption(
        new Option(
          '--status <status>',
          'only runs with this status; started: in flight, test runs too',
        ).choices(OPEN_RUN_STATUSES),
      ),
    'runs',
  ).action(onDatabase(cancelSome));
}

async function list(
  db: Db,
  path: string | undefined,
  options: { status?: RunStatus; since?: Date; stuck?: boolean; limit: number },
): Promise<CommandResult> {
  if (options.stuck) {
    if (path !== undefined || options.status || options.since)
      throw new UsageError('--stuck takes no other option than --limit: it looks at all runs under way.');
    return (await import('./stuck-runs.ts')).listStuck(db, options.limit);
  }
  const runs = (await listRuns(db, { ...splitScope(path), ...options })).map(toJson);
  // An empty list must not hide a misspelled path.
  if (runs.length === 0 && path !== undefined) await requirePath(db, path);
  return { json: runs, text: runTable(runs) };
}

/** Shows a run. `isSummary`: leaves out the request, for use beside the outcome of a command. */
async function show(db: Db, executionId: string, options: { full?: boolean; isSummary?: true }) {
  const row = await findListedRun(db, executionId);
  if (!row) throw new ServiceError('RUN_NOT_FOUND', `Run ${executionId} does not exist.`);
  const run = toJson(row);
  const input = await getRunInput(db, executionId).catch((error: unknown) => {
    const isLost = error instanceof ServiceError && error.code === 'INTERNAL_ERROR';
    if (options.isSummary && (isLost || error instanceof ObjectStoreUnavailable)) return null;
    throw error;
  });
  const values = options.full ? await readValues(db, executionId) : new Map<string, BlockValues>();
  const blocks = (await listBlockRuns(db, executionId)).map((block) => ({
    ...describeBlockExecution(block),
    ...values.get(block.block_key),
  }));
  const blocksUnderWay = (await listBlocksUnderWay(db, executionId)).map(describeBlockUnderWay);
  const result = row.result && (await readResult(db, row.concluded_by ?? executionId, row.result));
  return {
    json: { ...run, input, ...(row.result && { result }), blocks, blocksUnderWay },
    text: [
      `${run.executionId}  ${run.organization}/${run.project}/${run.flow} v${run.version}`,
      `${run.status}, ${run.mode}, ${run.environment}, started ${formatTime(run.startedAt)}` +
        `${run.durationMs === null ? '' : `, ${run.durationMs} ms`}, ${run.cost} credits`,
      ...(run.errorMessage === undefined ? [] : [`Error: ${oneLine(run.errorMessage)}`]),
      '',
      blockTable(blocks),
      ...(blocksUnderWay.length === 0 ? [] : ['', ...blocksUnderWay.map(underWayLine)]),
      ...(options.full ? ['', `Message: ${JSON.stringify(input?.message)}`] : []),
      ...[...values].flatMap(([key, { input, output }]) => [
        '',
        key,
        `  input:  ${JSON.stringify(input)}`,
        `  output: ${JSON.stringify(output)}`,
      ]),
      ...(row.result ? ['', `Result: ${shortenResult(JSON.stringify(result), options.full)}`] : []),
    ].join('\n'),
  };
}

/** Cuts a value that would fill the terminal, unless all of it is asked for. */
function shortenResult(text: string, full = false): string {
  if (full || text.length <= RESULT_MAX_CHARS) return text;
  return `${text.slice(0, RESULT_MAX_CHARS)}… (${text.length} characters: runs show --full prints all)`;
}

async function cancelSome(
  db: Db,
  executionId: string | undefined,
  options: ScopeOptions & { status?: RunStatus },
): Promise<CommandResult> {
  const { filter, how } = await getScope(db, executionId === undefined ? [] : [executionId], options);
  if (filter) return cancelMatching(db, filter, how);
  if (how.dryRun) throw new UsageError('--dry-run is for options that find runs.');
  return cancel(db, executionId as string);
}

async function retrySome(
  db: Db,
  executionIds: string[],
  options: ScopeOptions & { errorCode?: string; limit?: number },
): Promise<CommandResult> {
  const { filter = { executionIds, limit: undefined }, how } = await getScope(db, executionIds, options);
  const { limit, ...asked } = filter;
  // Loaded when it is needed: it needs more of the service than other commands.
  const { retryRuns } = await import('./retry-runs.ts');
  return retryRuns(db, asked, { ...how, limit });
}

async function cancel(db: Db, executionId: string): Promise<CommandResult> {
  const changed = await inTransaction(db, (tx) => cancelRun(tx, operator(), executionId));
  const { json, text } = await show(db, executionId, { isSummary: true });
  const done = changed ? 'The run was cancelled.' : 'The run had ended before: nothing was cancelled.';
  const underWay =
    'The run is being cancelled: it ends within seconds while Temporal answers, and nothing more is charged for it.';
  return { json, text: `${json.status === 'started' ? underWay : done}\n\n${text}` };
}

type BlockValues = { input: Json; output: Json };

/** By block key; of a block that went on after a pause, what it did last. */
async function readValues(db: Db, executionId: string): Promise<Map<string, BlockValues>> {
  const values = new Map<string, BlockValues>();
  for (const { execution_id: callId, block_key: blockKey, input } of await listBlockInputs(db, executionId)) {
    const output = (await readOutputText(db, { callId, blockKey })) ?? 'null';
    values.set(blockKey, { input: await readResult(db, callId, input), output: JSON.parse(output) });
  }
  return values;
}

function toJson(run: ListedRun) {
  return {
    executionId: run.execution_id,
    organization: run.organization,
    project: run.project,
    flow: run.flow,
    version: run.version,
    mode: run.mode,
    environment: run.environment,
    status: run.status,
    ...(run.error && describeRunError(run.error)),
    startedAt: run.started_at,
    finishedAt: run.finished_at,
    durationMs: run.finished_at && run.finished_at.getTime() - run.started_at.getTime(),
    cost: run.cost_microcredits / MICROCREDITS_PER_CREDIT,
  };
}

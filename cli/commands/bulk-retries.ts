// `weir runs bulk …`: what `weir runs retry --failed` began, its progress, and its cancellation.
import type { Command } from 'commander';
import type { z } from 'zod';
import type { bulkRetry, bulkRetryList } from '../../api/runs/bulk-retries.ts';
import { callApi, listAll } from '../api/call-api.ts';
import { parseBulkId, parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, printed } from '../terminal/print.ts';
import { getProjectAndFlow } from './change-runs.ts';

const ID = ['<bulkId>', 'id of the bulk retry', parseBulkId] as const;
const EXAMPLE = '0199b0a0-6c1e-7b43-9f6c-3f3a1f0f8a11';
const LIMIT_MAX = 10_000;

type BulkRetry = z.output<typeof bulkRetry>;
type Listed = z.output<typeof bulkRetryList>['bulkRetries'][number];
type InProject = { project?: string };

export function addBulkCommands(runs: Command): void {
  const bulk = runs.command('bulk').description('list, show and cancel bulk retries');
  bulk
    .command('list')
    .description('list the bulk retries of a project, newest first')
    .argument('[path]', 'org/project; by default that of the API key')
    .option('--limit <number>', 'how many to list', parseWholeNumber(1, LIMIT_MAX), 20)
    .addHelpText('after', '\nExample:\n  weir runs bulk list acme/main')
    .action(printed(list));
  inProject(
    bulk
      .command('show')
      .description('show the progress of a bulk retry')
      .argument(...ID),
  )
    .addHelpText('after', `\nExample:\n  weir runs bulk show ${EXAMPLE} --project acme/main`)
    .action(printed(show));
  inProject(
    bulk
      .command('cancel')
      .description('start no further run, and cancel those under way')
      .argument(...ID),
  )
    .addHelpText('after', `\nExample:\n  weir runs bulk cancel ${EXAMPLE} --project acme/main`)
    .action(printed(cancel));
}

function inProject(command: Command): Command {
  return command.option('--project <path>', 'org/project; by default that of the API key');
}

async function list(path: string | undefined, { limit }: { limit: number }): Promise<CommandResult> {
  const { url } = await placeOf(path);
  const bulks = await listAll<Listed>(url, 'bulkRetries', { limit });
  return {
    json: bulks,
    text: formatTable(
      ['bulk retry', 'planned', 'running', 'completed', 'failed', 'cancelled', 'refused', 'started', 'by'],
      bulks.map((bulk) => [
        bulk.bulk_id,
        bulk.planned,
        bulk.running,
        bulk.outcomes.completed,
        bulk.outcomes.failed,
        bulk.outcomes.cancelled,
        bulk.outcomes.refused,
        formatTime(bulk.startedAt),
        bulk.startedBy,
      ]),
      'There are no bulk retries.',
    ),
  };
}

async function show(id: string, { project }: InProject): Promise<CommandResult> {
  const { url, path } = await placeOf(project);
  return describe(await callApi<BulkRetry>('GET', `${url}/${id}`), path);
}

async function cancel(id: string, { project }: InProject): Promise<CommandResult> {
  const { url, path } = await placeOf(project);
  return describe(await callApi<BulkRetry>('POST', `${url}/${id}/cancel`), path);
}

function describe(bulk: BulkRetry, path: string): CommandResult {
  const { outcomes, cancelledAt, cancelledBy, stoppedBy, nextCursor } = bulk;
  const ends = Object.entries(outcomes).map(([outcome, runs]) => `${runs} ${outcome}`);
  return {
    json: bulk,
    text: [
      `${bulk.started} of ${bulk.planned} runs started, ${bulk.refused} not retried.`,
      `${bulk.running} running, ${ends.join(', ')}.`,
      ...(cancelledAt ? [`Cancelled by ${cancelledBy} at ${formatTime(cancelledAt)}.`] : []),
      ...(stoppedBy ? [`Stopped by ${stoppedBy}.`] : []),
      ...(nextCursor && !cancelledAt ? ['More failed runs match: repeat the command that began it.'] : []),
      ...bulk.refusals.map(({ executionId, errorMessage }) => `  ${executionId}: ${errorMessage}`),
      `See weir runs list ${path} --bulk ${bulk.bulk_id}`,
    ].join('\n'),
  };
}

async function placeOf(given: string | undefined): Promise<{ url: string; path: string }> {
  const { projectId, project: path } = await getProjectAndFlow(given);
  return { url: `/api/v1/projects/${projectId}/bulk-retries`, path };
}

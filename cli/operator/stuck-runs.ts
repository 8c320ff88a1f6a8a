import type { Command } from 'commander';
import type { z } from 'zod';
import type { stuckRunList } from '../../api/operator/stuck-runs.ts';
import { callApi } from '../api/call-api.ts';
import { parseWholeNumber } from '../terminal/parse-argument.ts';
import { type CommandResult, formatTable, formatTime, note, oneLine, printed } from '../terminal/print.ts';

type Answer = z.output<typeof stuckRunList>;

const LIMIT_MAX = 200;
const LAST_ERROR_MAX = 80;

const MEND: { [reason in Answer['runs'][number]['reason']]: string } = {
  retrying: 'a block fails repeatedly: see its error; wait for its next attempt, or weir runs cancel <id>',
  cancelling:
    'was cancelled, and no worker of its task queue has ended it: any worker of this service terminates it after 5 minutes',
  'task fails':
    'its workflow task fails: see the reason in the logs of workers; deploy workers whose code and keys fit its history; it then continues automatically',
  'crash-looping':
    'its workers die: check their logs and memory; it is retried, with up to 10 minutes between attempts, or weir runs cancel <id>',
  'waits for a model':
    'its model has not answered for 2 minutes or more: look at the provider; the request ends at its time limit, or weir runs cancel <id>',
  'no workflow':
    'its workflow is missing: a worker starts it within a minute; otherwise check the reconciler in the log',
  'no current worker':
    'no worker of the current version polls: set the version of the running workers as current, or start workers of the current version (docs/operating/worker-versions.md)',
  'no ramping worker':
    'no worker of the ramping version polls, which gets a share of the new runs: start workers of this version, or end its ramp (docs/operating/worker-versions.md)',
  'no worker of its version':
    'no worker of the version that began it polls: start such workers, or move its runs to the current version (docs/operating/worker-versions.md)',
  'no worker': 'no worker polls the task queue: start workers with the WEIR_TASK_QUEUE of the API',
};

export function addStuckRunsCommand(program: Command): void {
  program
    .command('runs')
    .description('find runs that make no progress')
    .command('stuck')
    .description('list the runs of all organizations that make no progress, with the reason and what to do')
    .option('--limit <number>', 'how many runs to list', parseWholeNumber(1, LIMIT_MAX), 20)
    .addHelpText('after', '\nExample:\n  weir operator runs stuck')
    .action(printed(list));
}

async function list({ limit }: { limit: number }): Promise<CommandResult> {
  const path = '/api/v1/operator/stuck-runs';
  const { runs, missing } = await callApi<Answer>('GET', path, { query: { limit } });
  if (missing !== null) note(`${missing} Runs that only Temporal reports as stuck may be missing.`);
  const reasons = [...new Set(runs.map(({ reason }) => reason))];
  return {
    json: runs.map((run) => ({ ...run, mend: MEND[run.reason] })),
    text: [
      formatTable(
        ['execution', 'flow', 'reason', 'since', 'last error'],
        runs.map(({ executionId, flow, reason, since, lastError }) => [
          executionId,
          flow,
          reason,
          formatTime(since),
          lastError && shorten(oneLine(lastError)),
        ]),
        missing === null ? 'No run is stuck.' : 'The database shows no stuck run.',
      ),
      ...(reasons.length > 0 ? ['', ...reasons.map((reason) => `${reason}: ${MEND[reason]}`)] : []),
    ].join('\n'),
  };
}

function shorten(text: string): string {
  return text.length > LAST_ERROR_MAX ? `${text.slice(0, LAST_ERROR_MAX - 1)}…` : text;
}

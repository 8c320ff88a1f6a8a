// `weir run`: starts a run over the API, as any caller would, and follows it to its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { findInexactNumber } from '../flow/find-inexact-number.ts';
import { callApi, type JobState, Unreachable } from './api-client.ts';
import { blockLine } from './block-table.ts';
import { splitPath } from './find-by-path.ts';
import { oneLine } from './format-table.ts';
import { parseVersionNumber } from './parse-argument.ts';
import { printResult } from './print-result.ts';

const POLL_MS = 300;
/** A run outlives restarts of the service: --follow tries to reach the service again for this long. */
const RECONNECT_MS = 60_000;

export function addRunCommand(program: Command): void {
  program
    .command('run')
    .description('start a run over the API and, with --follow, wait for its result')
    .argument('<org/project/flow>', 'path of the flow')
    .requiredOption('--message <text>', 'message of the run, its primary input')
    .option('--parameters <json>', 'parameters of the run, as a JSON object', parseParameters)
    .option(
      '--version <number>',
      'published version to run (default: the production version)',
      parseVersionNumber,
    )
    .option('--follow', 'print each block as it ends, then the result; exit with 1 if the run fails')
    .action(run);
}

type RunOptions = {
  message: string;
  parameters?: { [key: string]: unknown };
  version?: number;
  follow?: boolean;
  json?: boolean;
};

async function run(path: string, options: RunOptions, command: Command): Promise<void> {
  const flow = splitPath(path, 'org/project/flow').map(encodeURIComponent).join('/');
  const { message, parameters, version } = options;
  const jobs = `/api/v1/seq/${flow}${version === undefined ? '' : `/v${version}`}/jobs`;
  const accepted = await callApi<{ executionId: string }>('POST', jobs, { message, parameters });
  const { executionId } = accepted;
  if (!options.follow) return printResult({ json: accepted, text: `Started ${executionId}.` }, command);
  if (!options.json) console.log(`Started ${executionId}.`);
  const state = await follow(`${jobs}/${executionId}`, options.json ? () => undefined : console.log);
  printResult({ json: state, text: ending(state) }, command);
  if (state.status !== 'completed') process.exitCode = 1;
}

/** Polls until the run has ended; `report` gets a line for each block that ends. */
async function follow(path: string, report: (line: string) => void): Promise<JobState> {
  const reported = new Map<string, string>();
  let reachable = Date.now();
  for (;;) {
    try {
      const state = await callApi<JobState>('GET', path);
      reachable = Date.now();
      for (const block of state.blocks) {
        if (reported.get(block.key) === block.status) continue;
        reported.set(block.key, block.status);
        report(blockLine(block));
      }
      if (state.status !== 'started') return state;
    } catch (error) {
      if (!(error instanceof Unreachable) || Date.now() - reachable > RECONNECT_MS) throw error;
    }
    await sleep(POLL_MS);
  }
}

function ending(state: JobState): string {
  const spent = `${state.durationMs} ms, ${state.cost} credits`;
  if (state.status !== 'completed') return `Failed after ${spent}: ${oneLine(state.errorMessage ?? '')}`;
  return `Completed in ${spent}:\n${JSON.stringify(state.result, null, 2)}`;
}

function parseParameters(text: string): { [key: string]: unknown } {
  try {
    const number = findInexactNumber(Buffer.from(text));
    if (number) throw new InvalidArgumentError(`The digits of ${number} would be changed: write it as text.`);
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return value as { [key: string]: unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidArgumentError('Give a JSON object, e.g. \'{"language":"fr"}\'.');
}

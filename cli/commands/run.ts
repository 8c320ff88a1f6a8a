// `weir run`: starts a run over the API, as any caller would, and follows it to its end.
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { jobState } from '../../api/runs/run-shapes/answers.ts';
import { callApi, poll } from '../api/call-api.ts';
import { projectOption } from '../flows/flow-options.ts';
import { urlOf } from '../flows/service-flow.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { parseHttps, parseVersionNumber, splitPath, UsageError } from '../terminal/parse-argument.ts';
import { note, oneLine, printLine, printResult } from '../terminal/print.ts';
import { blockLine, noteLines, underWayLine } from '../terminal/tables.ts';
import {
  parseIdempotencyKey,
  parseMaxCredits,
  parseOverride,
  parseParameters,
  type RequestOptions,
  readRunRequest,
} from './run-request.ts';

type JobState = z.output<typeof jobState>;

const POLL_MS = 300;

export function addRunCommand(program: Command): void {
  program
    .command('run')
    .description('start a run over the API and, with --follow, wait for its result')
    .argument(
      '<org/project/flow>',
      'path of the flow; with --draft also a flow file, which its draft must equal',
    )
    .option('--message <text>', 'message of the run, its primary input')
    .option('--parameters <json>', 'parameters of the run, as a JSON object', parseParameters)
    .option(
      '--file <file>',
      'JSON file with the body of POST …/jobs, to which the other options add; - reads standard input',
    )
    .option('--override <step_id=json>', 'fields of a block to replace; may be repeated', parseOverride)
    .option('--max-credits <number>', 'maximum cost of the run, in credits', parseMaxCredits)
    .option('--callback-url <url>', 'where to send the webhook when the run has ended', parseHttps)
    .option(
      '--idempotency-key <key>',
      'key that makes a repeated command return the same run',
      parseIdempotencyKey,
    )
    .option(
      '--version <number>',
      'published version to run (default: the production version)',
      parseVersionNumber,
    )
    .addOption(new Option('--draft', 'run the draft, in the environment test').conflicts('version'))
    .addOption(projectOption())
    .option(
      '--follow',
      'print each block as it ends, takes long or is retried, then the result; exit with 1 if the run fails',
    )
    .addHelpText('after', '\nExample:\n  weir run acme/main/hello --message hi --follow')
    .action(run);
}

type RunOptions = RequestOptions & {
  idempotencyKey?: string;
  version?: number;
  draft?: boolean;
  project?: string;
  follow?: boolean;
  json?: boolean;
};

async function run(path: string, options: RunOptions, command: Command): Promise<void> {
  const { idempotencyKey } = options;
  const target = options.draft ? await draftTarget(path, options.project) : versionTarget(path, options);
  const request = await readRunRequest(options);
  const accepted = await callApi<{ executionId: string }>('POST', target.start, {
    body: request,
    headers: { ...target.headers, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) },
  });
  const { executionId } = accepted;
  if (!options.follow) return printResult({ json: accepted, text: `Started ${executionId}.` }, command);
  if (!options.json) printLine(oneLine(`Started ${executionId}.`));
  onInterruption(() =>
    note(`The run goes on: weir runs show ${executionId} shows it, weir runs cancel ${executionId} ends it.`),
  );
  const state = await follow(`${target.jobs}/${executionId}`, options.json ? () => undefined : printLine);
  printResult({ json: state, text: [...noteLines(state.notes), ending(state)].join('\n') }, command);
  if (state.status !== 'completed') process.exitCode = 1;
}

/** Where a run is started, and the path below which it is then. */
type Target = { start: string; jobs: string; headers?: { [name: string]: string } };

function versionTarget(path: string, { version }: RunOptions): Target {
  const jobs = `${flowPath(path)}${version === undefined ? '' : `/v${version}`}/jobs`;
  return { start: jobs, jobs };
}

/** The draft of a flow file must be as the file says, also when the run is accepted. */
async function draftTarget(name: string, project: string | undefined): Promise<Target> {
  const { getFlows, requireExisting } = await import('../flows/flow-arguments.ts');
  const [named] = (await getFlows([name], project)).map(requireExisting);
  if (!named) throw new UsageError('Give the path of one flow, or one flow file.');
  const { path, flow, local } = named;
  const target = { start: `${urlOf(flow)}/draft/runs`, jobs: `${flowPath(path)}/jobs` };
  if (!local) return target;
  const { requirePushed } = await import('../flows/push-plan.ts');
  const { tests: _, ...withoutTests } = local;
  const { etag } = await requirePushed({ ...named, local: withoutTests }, 'run');
  return { ...target, headers: { 'if-match': etag } };
}

function flowPath(path: string): string {
  return `/api/v1/seq/${splitPath(path, 'org/project/flow').map(encodeURIComponent).join('/')}`;
}

/** Waits until the run has ended; `report` gets a line for each block that ends, takes long or is refused. */
function follow(path: string, report: (line: string) => void): Promise<JobState> {
  const reported = new Map<string, string>();
  function reportOnce(key: string, state: string, line: string): void {
    if (reported.get(key) !== state) report(line);
    reported.set(key, state);
  }
  return poll<JobState>(path, POLL_MS, (state) => {
    for (const block of state.blocks ?? []) reportOnce(block.key, block.status, blockLine(block));
    if (state.status !== 'started') return true;
    for (const block of state.blocksUnderWay ?? []) {
      const line = underWayLine(block);
      reportOnce(block.key, line, line);
    }
    return false;
  });
}

function ending(state: JobState): string {
  const spent = `${state.durationMs} ms, ${state.cost} credits`;
  if (state.status === 'completed') return `Completed in ${spent}:\n${JSON.stringify(state.result, null, 2)}`;
  return `Failed after ${spent}: ${oneLine('errorMessage' in state ? state.errorMessage : '')}`;
}

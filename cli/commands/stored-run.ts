// What `weir runs` does with one stored run, which it finds by its id.
import type { z } from 'zod';
import type { jobState, runState, stepCursor } from '../../api/runs/run-shapes/answers.ts';
import type { blockDetail } from '../../api/runs/run-shapes/block-answers.ts';
import type { repeatAccepted, VersionChoice } from '../../api/runs/run-shapes/repetitions.ts';
import { callApi } from '../api/call-api.ts';
import { getRun, runPath } from '../api/get-resource.ts';
import { describeError } from '../terminal/describe-error.ts';
import { type CommandResult, formatTable, formatTime, oneLine } from '../terminal/print.ts';
import {
  type BlockState,
  type BlockUnderWay,
  blockLine,
  noteLines,
  tokensOf,
  underWayLine,
} from '../terminal/tables.ts';

const VALUES = ['input', 'sent', 'output'] as const;

type JobState = z.output<typeof jobState>;

export async function show(executionId: string): Promise<CommandResult> {
  const run = await getRun(executionId);
  const state = await callApi<JobState>('GET', runPath(run));
  const errorMessage = 'errorMessage' in state ? state.errorMessage : undefined;
  return {
    json: { ...state, organization: run.organization, project: run.project, flow: run.flow },
    text: [
      `${executionId}  ${run.organization}/${run.project}/${run.flow} v${state.version}`,
      `${state.status}, ${state.mode}, ${state.environment}, started ${formatTime(state.startedAt)}` +
        `${state.durationMs === null ? '' : `, ${state.durationMs} ms`}, ${state.cost} credits`,
      ...noteLines(state.notes),
      ...(state.repeats === null ? [] : [describeRepetition(state)]),
      ...(state.repeatedBy === null ? [] : [`Was run again as ${state.repeatedBy}.`]),
      ...(errorMessage === undefined ? [] : [`Error: ${oneLine(errorMessage)}`]),
      ...(state.cancelledAt === undefined
        ? []
        : [`Cancelled by ${state.cancelledBy}, ${formatTime(state.cancelledAt)}`]),
      '',
      blockTable(state.blocks ?? []),
      ...underWayLines(state),
      ...('result' in state ? ['', `Result: ${JSON.stringify(state.result)}`] : []),
    ].join('\n'),
  };
}

/** Formats one row per block, with its error in place of its model. */
function blockTable(blocks: BlockState[]): string {
  return formatTable(
    ['block', 'name', 'status', 'ms', 'tokens', 'credits', 'attempts', 'model or error'],
    blocks.map((block) => [
      block.key,
      block.name,
      block.status,
      block.usage.ms,
      tokensOf(block) ?? 'unknown',
      block.usage.cost,
      block.attempts,
      block.errorMessage ?? block.model ?? '',
    ]),
    'No block has finished.',
  );
}

/** Lists the blocks that take long or were refused by their provider. */
function underWayLines(state: JobState): string[] {
  const blocks = 'blocksUnderWay' in state ? (state.blocksUnderWay ?? []) : [];
  return blocks.length === 0 ? [] : ['', ...blocks.map(sinceLine)];
}

function sinceLine(block: BlockUnderWay): string {
  return `${underWayLine(block)}${block.status === 'running' ? `, since ${formatTime(block.startedAt)}` : ''}`;
}

/** Says which run this one does again, and with which block it began: with the first of the flow, or where that one failed. */
function describeRepetition({ repeats, blocks = [] }: JobState): string {
  const [first] = blocks;
  return `Runs ${repeats} again${first ? `, from block ${first.key}` : ''}.`;
}

async function cancel(executionId: string): Promise<CommandResult> {
  const path = `${runPath(await getRun(executionId))}/cancel`;
  const state = await callApi<z.output<typeof runState>>('POST', path);
  const ended = state.status === 'completed' || state.status === 'failed';
  return {
    json: state,
    text: ended
      ? `The run has ended already: it is ${state.status}.`
      : 'The run is being cancelled: it ends within seconds, and nothing more is charged for it.',
  };
}

/** Cancels each of the runs. A failure to cancel one run does not stop the others. */
export async function cancelEach(executionIds: string[]): Promise<CommandResult> {
  const [only] = executionIds;
  if (only !== undefined && executionIds.length === 1) return cancel(only);
  const results: { executionId: string; json: unknown; text: string }[] = [];
  for (const executionId of executionIds)
    results.push({ executionId, ...(await cancel(executionId).catch(toFailure)) });
  return {
    json: results.map(({ executionId, json }) => ({ executionId, ...(json as object) })),
    text: results.map(({ executionId, text }) => `${executionId}  ${text}`).join('\n'),
  };
}

function toFailure(error: unknown): CommandResult {
  process.exitCode = 1;
  const message = describeError(error);
  return { json: { error: message }, text: `Not cancelled: ${message}` };
}

export async function fork(executionId: string, { step }: { step: number }): Promise<CommandResult> {
  const path = `${runPath(await getRun(executionId))}/fork`;
  const cursor = await callApi<z.output<typeof stepCursor>>('GET', path, { query: { step } });
  return { json: cursor, text: JSON.stringify(cursor) };
}

export type RepeatOptions = { idempotencyKey?: string; onVersion?: VersionChoice };

type RepeatAccepted = z.output<typeof repeatAccepted>;
/** A run, with the run that repeats it or the error. */
type Repeated =
  | Pick<RepeatAccepted, 'repeats' | 'executionId' | 'version' | 'beginsAt'>
  | { repeats: string; error: string };

/**
 * Starts each of the runs again. A refused run does not stop the others. Each request appends the run's id to the idempotency
 * key, so that the keys differ.
 */
export async function repeat(
  how: 'rerun' | 'retry',
  executionIds: string[],
  { idempotencyKey, onVersion }: RepeatOptions,
): Promise<CommandResult> {
  const repeated: Repeated[] = [];
  for (const repeats of executionIds) {
    const headers = idempotencyKey && { 'idempotency-key': `${idempotencyKey}/${repeats}` };
    try {
      const path = `${runPath(await getRun(repeats))}/${how}`;
      const { executionId, version, beginsAt } = await callApi<RepeatAccepted>('POST', path, {
        ...(headers && { headers }),
        ...(onVersion !== undefined && { body: { version: onVersion } }),
      });
      repeated.push({ repeats, executionId, version, beginsAt });
    } catch (error) {
      if (executionIds.length === 1) throw error;
      repeated.push({ repeats, error: describeError(error) });
      process.exitCode = 1;
    }
  }
  return {
    json: repeated,
    text: formatTable(
      ['run', 'is run again as', 'version', 'from step'],
      repeated.map((one) =>
        'error' in one
          ? [one.repeats, `not: ${one.error}`]
          : [
              one.repeats,
              one.executionId,
              `v${one.version}`,
              one.beginsAt && `${one.beginsAt.step_id}: ${one.beginsAt.reason}`,
            ],
      ),
      '',
    ),
  };
}

/** Shows the last execution of a block: its values up to 16 KiB each, or one of them in full. */
export async function showBlock(
  executionId: string,
  key: string,
  { value }: { value?: (typeof VALUES)[number] },
): Promise<CommandResult> {
  const path = `${runPath(await getRun(executionId))}/blocks/${encodeURIComponent(key)}`;
  if (value !== undefined) {
    const json = await callApi<unknown>('GET', `${path}/${value}`);
    return { json, text: JSON.stringify(json, null, 2) };
  }
  const block = await callApi<z.output<typeof blockDetail>>('GET', path);
  const lines = VALUES.map((name) => {
    const bytes = block[`${name}Bytes`];
    const isLarge = block[name] === null && bytes > 'null'.length;
    return `${name}: ${isLarge ? `${bytes} bytes; --value ${name} prints them` : JSON.stringify(block[name])}`;
  });
  return {
    json: block,
    text: [blockLine(block), ...attemptLines(block), ...lines, ...logLines(block)].join('\n'),
  };
}

/** Lists the attempts at a block that failed before the last one. */
function attemptLines({ failedAttempts = [] }: z.output<typeof blockDetail>): string[] {
  return failedAttempts.map(({ number, startedAt, endedAt, code, message }) => {
    const ms = Date.parse(endedAt) - Date.parse(startedAt);
    return `attempt ${number}: ${code} after ${ms} ms, ${formatTime(startedAt)}: ${oneLine(message)}`;
  });
}

/** Lists the lines that the code of a block wrote with `console`. */
function logLines({ logs = [] }: z.output<typeof blockDetail>): string[] {
  return logs.flatMap(({ level, text, omittedBefore }) => [
    ...(omittedBefore === undefined ? [] : [`console: ${omittedBefore} lines are not kept`]),
    `console.${level}: ${text}`,
  ]);
}

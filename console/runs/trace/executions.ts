// The block executions of a run: ended or under way, and the selected one.

import { eachStep, findStep, type Step } from '../../flow/draft/steps.ts';
import type { RunView } from '../search.ts';
import type { Execution } from './spans.ts';

type Failed = { code: string; step_id?: string | undefined };

/** A block execution that was under way; `goneAt` is the time of the first response without it. */
export type Kept = { block: UnderWay; goneAt: number };

type Ended = Extract<Execution, { finishedAt: string }>;

export type UnderWay = Exclude<Execution, Ended>;

/** Returns the search parameters of a block execution, with its call unless it is the last one with its key. */
export function nameExecution(executions: readonly Execution[], execution: Execution): RunView {
  const { key } = execution;
  const isLast = executions.findLast((other) => other.key === key) === execution;
  return { block: key, ...(!isLast && 'callId' in execution && { call: execution.callId }) };
}

/** Finds the block execution of the address: by call if given, otherwise the last one with the key. */
export function chosenExecution(
  executions: readonly Execution[],
  { block, call }: RunView,
): Execution | undefined {
  if (block === undefined) return undefined;
  const named = executions.filter(({ key }) => key === block);
  const exact = call && named.find((execution) => 'callId' in execution && execution.callId === call);
  return exact || named.at(-1);
}

/**
 * Lists the block executions of a run, those under way last. An execution that has ended meanwhile is listed once. An
 * earlier execution of the same block, from another call of a session or a resume, is listed separately.
 */
export function listExecutions(ended: readonly Ended[], underWay: readonly UnderWay[]): Execution[] {
  const lastEnds = new Map<string, string>();
  for (const { key, finishedAt } of ended)
    if (finishedAt > (lastEnds.get(key) ?? '')) lastEnds.set(key, finishedAt);
  return [...ended, ...underWay.filter(({ key, startedAt }) => startedAt > (lastEnds.get(key) ?? ''))];
}

/**
 * Records the block executions under way in a response of time `at`. One that is no longer among them has ended. It is
 * kept until the list of ended executions was fetched after that (`fetchedAt`), so that it is always in one of the lists.
 */
export function keepUnderWay(
  before: readonly Kept[],
  underWay: readonly UnderWay[],
  at: number,
  fetchedAt: number,
): Kept[] {
  const keys = new Set(underWay.map(({ key }) => key));
  const gone = before
    .filter(({ block, goneAt }) => !keys.has(block.key) && fetchedAt < goneAt)
    .map(({ block, goneAt }) => ({ block, goneAt: Math.min(goneAt, at) }));
  return [...gone, ...underWay.map((block) => ({ block, goneAt: Number.POSITIVE_INFINITY }))];
}

/** Finds the index of the top-level step that contains a step; undefined when the tree has no such step. */
export function topStepIndex(steps: Step[], stepId: string): number | undefined {
  for (const [index, step] of steps.entries())
    for (const { step: inner } of eachStep([step])) if (inner.step_id === stepId) return index;
  return undefined;
}

/** Whether a run failed inside a block, as far as is known: a loop or parallel step may fail without a failed block. */
export function failedInBlock({ code, step_id }: Failed, steps: Step[] | undefined): boolean {
  // A run with too many block executions fails before the block that it names.
  if (code === 'LOOP_LIMIT_EXCEEDED') return false;
  return steps !== undefined && findStep(steps, step_id)?.step.type === 'sequential';
}

// The run that is tried: its state so far, from events.
import type { components } from '../../api/schema.d.ts';
import { eachStep, type Step } from '../draft/steps.ts';
import { type StepStatus, worseStatus } from '../graph/graph-props.ts';

type Schemas = components['schemas'];
/** A Server-Sent Event. */
export type TryEvent = { event: string; data: unknown };

export type TryBlock = {
  /** The step_id; in loops with the iteration, such as `topic#2`. Only blocks are listed. */
  key: string;
  stepId: string;
  name: string;
  status: 'running' | 'retrying' | Schemas['BlockRun']['status'];
  /** When a block under way started, as the page learned: an ISO 8601 time. */
  since?: string;
  attempts?: number;
  /** The provider's answer to a refused attempt, or why the block failed. */
  message?: string;
  model?: string | null;
  /** Whether its output was pinned, and the block did not run. */
  pinned?: true;
  usage?: Schemas['Usage'];
};

/** A top-level step, in a run that goes step by step. */
export type PlanStep = { index: number; step_id: string; name: string; type: string };

type ToolPause = Pick<
  Schemas['StepPausedForToolCalls'],
  | 'stepId'
  | 'stepIndex'
  | 'iterationsUsed'
  | 'toolCallMessages'
  | 'toolCalls'
  | 'accumulatedOutputs'
  | 'resumeState'
>;

/** The failure of a run; `stepId` is the failed block, if any. */
type Failure = { message: string; code: string | undefined; stepId: string | undefined };

export type TryRun = {
  /** The version; 0 is the draft. */
  version: number;
  /** `whole`: one job or call; `steps`: a session that runs one step at a time. */
  mode: 'whole' | 'steps';
  executionId: string | undefined;
  /** `unknown`: the service did not respond, so the run may have started. */
  status: 'starting' | 'running' | 'waiting' | 'tools' | 'completed' | 'failed' | 'cancelled' | 'unknown';
  /** Milliseconds since 1970. */
  startedAt: number;
  durationMs: number | undefined;
  blocks: TryBlock[];
  /** Cost so far, in credits. */
  cost: number;
  tokens: number;
  result: unknown;
  failure: Failure | undefined;
  /** The error of a request that was refused or got no response. */
  refused: Error | undefined;
  /** Whether the stream was interrupted and is being resumed. */
  isReconnecting: boolean;
  plan: PlanStep[];
  /** The outputs of steps by step_id, edits included; sent with the next step. */
  outputs: Record<string, unknown>;
  nextIndex: number | undefined;
  pause: ToolPause | undefined;
  /** Results of tool calls while they are typed, by the call's id. */
  typedResults: Record<string, string>;
};

/** Creates the state of a run that was not accepted yet. */
export function beginRun(version: number, mode: TryRun['mode'], now: number): TryRun {
  return {
    ...{ version, mode, startedAt: now, executionId: undefined, status: 'starting', durationMs: undefined },
    ...{
      blocks: [],
      cost: 0,
      tokens: 0,
      result: undefined,
      failure: undefined,
      refused: undefined,
      isReconnecting: false,
    },
    ...{ plan: [], outputs: {}, nextIndex: undefined, pause: undefined, typedResults: {} },
  };
}

/** Whether the run has ended. A session can continue after a failure. */
export function hasEnded({ status, mode }: TryRun): boolean {
  return status === 'completed' || status === 'cancelled' || (status === 'failed' && mode === 'whole');
}

/** Whether the run is starting or running. */
export function isUnderWay({ status }: TryRun): boolean {
  return status === 'starting' || status === 'running';
}

/** Lists the top-level steps of a tree. */
export function toPlan(steps: Omit<PlanStep, 'index'>[]): PlanStep[] {
  return steps.map(({ step_id, name, type }, index) => ({ index, step_id, name, type }));
}

/** Sums up the tokens of block executions. */
export function tokensOf(blocks: readonly Pick<TryBlock, 'usage'>[]): number {
  return blocks.reduce(
    (sum, { usage }) => sum + (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0),
    0,
  );
}

/** Adds a block, or replaces its earlier state. */
export function withBlock(blocks: TryBlock[], block: TryBlock): TryBlock[] {
  const at = blocks.findLastIndex(({ key }) => key === block.key);
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

/** Adds a block that has started or is retried. */
export function withUnderWay(blocks: TryBlock[], block: TryBlock): TryBlock[] {
  const known = blocks.findLast(({ key }) => key === block.key);
  const isGoing = known?.status === 'running' || known?.status === 'retrying';
  return withBlock(blocks, { ...block, since: (isGoing && known.since) || new Date().toISOString() });
}

/** Converts a block execution of a receipt. */
export function toTryBlock(block: Schemas['BlockRun']): TryBlock {
  const { key, step_id, name, status, attempts, errorMessage, model, usage, pinned } = block;
  return {
    ...{ key, stepId: step_id, name, status, attempts, model, usage },
    ...(errorMessage !== undefined && { message: errorMessage }),
    ...(pinned && { pinned }),
  };
}

/** Reads the failure from a response or event. */
export function toFailure(data: {
  code?: string;
  errorMessage?: string;
  step_id?: string;
  stepId?: string;
}): Failure {
  return {
    message: data.errorMessage ?? 'The run failed.',
    code: data.code,
    stepId: data.step_id ?? data.stepId,
  };
}

/**
 * Returns the status of each step of a run for the graph. A block in a loop is one step; an enclosing step has the most
 * urgent status of its inner steps.
 */
export function statusesOf(run: TryRun, steps: Step[]): Map<string, StepStatus> {
  const isOver = ['completed', 'failed', 'cancelled'].includes(run.status);
  const statuses = new Map<string, StepStatus>();
  for (const block of run.blocks) {
    const before = statuses.get(block.stepId);
    const status = statusOf(block, isOver);
    statuses.set(block.stepId, {
      status: worseStatus(before?.status, status),
      count: (before?.count ?? 0) + 1,
      ms: (before?.ms ?? 0) + (block.usage?.ms ?? 0),
      cost: (before?.cost ?? 0) + (block.usage?.cost ?? 0),
    });
  }
  const { stepId: latestId } = run.blocks.at(-1) ?? {};
  // An enclosing step can fail without a failed block: a loop without an array, or outputs that are too large in total.
  const failedId = run.status === 'failed' ? run.failure?.stepId : undefined;
  for (const { step, parents } of eachStep(steps)) {
    if (step.step_id === failedId) statuses.set(failedId, { ...statuses.get(failedId), status: 'failed' });
    else if (step.type !== 'sequential') continue;
    const inner = statuses.get(step.step_id)?.status;
    if (!inner) continue;
    // The enclosing steps of the latest block count as running even when all their known blocks have completed: a loop
    // may begin again.
    const goesOn = isUnderWay(run) && step.step_id === latestId;
    for (const { step_id } of parents) {
      const status = goesOn && !(step_id in run.outputs) ? worseStatus(inner, 'running') : inner;
      statuses.set(step_id, { status: worseStatus(statuses.get(step_id)?.status, status) });
    }
  }
  return statuses;
}

function statusOf({ status }: TryBlock, isOver: boolean): StepStatus['status'] {
  if (status === 'running' || status === 'retrying') return isOver ? 'cancelled' : 'running';
  return status;
}

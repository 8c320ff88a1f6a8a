// One run that was started here, as it goes: what its events have told so far.
import type { components } from '../../api/schema.d.ts';

type Schemas = components['schemas'];
/** An event of a stream. */
export type TryEvent = { event: string; data: unknown };

export type TryBlock = {
  /** The step_id; in loops with the iteration, such as `topic#2`. Steps that hold others are not listed. */
  key: string;
  stepId: string;
  name: string;
  status: 'running' | 'retrying' | 'completed' | 'failed' | 'paused';
  attempts?: number;
  /** Answered by a provider that refused an attempt; why the block failed. */
  message?: string;
  model?: string | null;
  usage?: Schemas['Usage'];
};

/** A step of the plan, in a run that goes step by step. */
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

/** The failure of a run; `stepId` is the block that failed, where there is one. */
type Failure = { message: string; code: string | undefined; stepId: string | undefined };

export type TryRun = {
  /** The version; 0 is the draft. */
  version: number;
  /** `whole`: a job; `steps`: a session, which goes on when it is told to. */
  mode: 'whole' | 'steps';
  executionId: string | undefined;
  /** `unknown`: the service did not answer, so that the run may have begun, and go on. */
  status: 'starting' | 'running' | 'waiting' | 'tools' | 'completed' | 'failed' | 'cancelled' | 'unknown';
  /** Milliseconds since 1970. */
  startedAt: number;
  durationMs: number | undefined;
  blocks: TryBlock[];
  /** Credits so far. */
  cost: number;
  result: unknown;
  failure: Failure | undefined;
  /** A request that was refused, or not answered. */
  refused: Error | undefined;
  /** The stream was interrupted, and is taken up again. */
  isReconnecting: boolean;
  plan: PlanStep[];
  /** The outputs of steps by step_id, with what was edited; they are sent with the next step. */
  outputs: Record<string, unknown>;
  nextIndex: number | undefined;
  pause: ToolPause | undefined;
  /** Results of tool calls as they are typed, by the id of the call. */
  typedResults: Record<string, string>;
};

/** Makes a run that was not accepted yet. */
export function beginRun(version: number, mode: TryRun['mode'], now: number): TryRun {
  return {
    ...{ version, mode, startedAt: now, executionId: undefined, status: 'starting', durationMs: undefined },
    ...{
      blocks: [],
      cost: 0,
      result: undefined,
      failure: undefined,
      refused: undefined,
      isReconnecting: false,
    },
    ...{ plan: [], outputs: {}, nextIndex: undefined, pause: undefined, typedResults: {} },
  };
}

/** A session goes on after a failure. */
export function hasEnded({ status, mode }: TryRun): boolean {
  return status === 'completed' || status === 'cancelled' || (status === 'failed' && mode === 'whole');
}

/** Whether something is under way. */
export function isUnderWay({ status }: TryRun): boolean {
  return status === 'starting' || status === 'running';
}

/** The plan of a tree: its top-level steps. */
export function toPlan(steps: Omit<PlanStep, 'index'>[]): PlanStep[] {
  return steps.map(({ step_id, name, type }, index) => ({ index, step_id, name, type }));
}

/** Puts a block in, in the place of what was known of it. */
export function withBlock(blocks: TryBlock[], block: TryBlock): TryBlock[] {
  const at = blocks.findLastIndex(({ key }) => key === block.key);
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

/** A block execution of a receipt. */
export function toTryBlock(block: Schemas['BlockRun']): TryBlock {
  const { key, step_id, name, status, attempts, errorMessage, model, usage } = block;
  return {
    ...{ key, stepId: step_id, name, status, attempts, model, usage },
    ...(errorMessage !== undefined && { message: errorMessage }),
  };
}

/** The failure that an answer or event tells of. */
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

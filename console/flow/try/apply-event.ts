import type { components } from '../../api/schema.d.ts';
import {
  type TryEvent,
  type TryRun,
  toFailure,
  tokensOf,
  toTryBlock,
  withBlock,
  withUnderWay,
} from './try-run.ts';

type Schemas = components['schemas'];

const RUN_ENDS = ['run_completed', 'run_failed', 'run_tool_calls_required', 'run_in_progress'];

const CALL_ENDS = ['step_paused', 'step_paused_for_tool_calls', 'run_completed', 'run_failed'];

/** Whether an event of `POST …/step` ends its call. */
export function isLastStepEvent({ event }: TryEvent): boolean {
  return CALL_ENDS.includes(event);
}

/** Applies an event of `POST …/step`. */
export function applyStepEvent(run: TryRun, { event, data }: TryEvent): TryRun {
  switch (event) {
    case 'run_started': {
      const { executionId, steps } = data as Schemas['StepRunStarted'];
      return { ...run, executionId, plan: steps, status: 'running' };
    }
    case 'block_started':
    case 'block_retrying':
      return applyUnderWay(run, data as Schemas['StepBlockRetrying'], event);
    case 'block_completed': {
      const { stepId, key, output, blocks = [] } = data as Schemas['StepBlockCompleted'];
      const known = blocks.reduce((all, block) => withBlock(all, toTryBlock(block)), run.blocks);
      // The output of an inner block is part of its step's output.
      const outputs = key === undefined ? { ...run.outputs, [stepId]: output } : run.outputs;
      return withCost({ ...run, blocks: known, outputs });
    }
    case 'step_paused':
      return { ...run, status: 'waiting', nextIndex: (data as Schemas['StepPaused']).nextStepIndex };
    case 'step_paused_for_tool_calls': {
      const pause = data as Schemas['StepPausedForToolCalls'];
      const { stepId, stepIndex } = pause;
      const blocks = run.blocks.map((block) =>
        block.stepId === stepId ? { ...block, status: 'paused' as const } : block,
      );
      return { ...run, status: 'tools', pause, nextIndex: stepIndex, blocks };
    }
    case 'run_completed': {
      const { result, blocks = [] } = data as Schemas['StepRunCompleted'];
      const known = blocks.reduce((all, block) => withBlock(all, toTryBlock(block)), run.blocks);
      return withCost({ ...run, status: 'completed', result, blocks: known, nextIndex: undefined });
    }
    case 'run_failed': {
      const failed = data as Schemas['StepRunFailed'];
      const known = (failed.blocks ?? []).reduce(
        (all, block) => withBlock(all, toTryBlock(block)),
        run.blocks,
      );
      const status = failed.code === 'CANCELLED' ? 'cancelled' : 'failed';
      return withCost({ ...run, status, failure: toFailure(failed), blocks: known });
    }
    default:
      return run;
  }
}

/** Records that a block has started or is retried. Steps with inner steps have no block of their own. */
function applyUnderWay(
  run: TryRun,
  { stepId, key = stepId, name, type, attempts, errorMessage }: Schemas['StepBlockRetrying'],
  event: string,
): TryRun {
  if (type === 'parallel' || type === 'loop') return run;
  const status = event === 'block_started' ? ('running' as const) : ('retrying' as const);
  const block = { key, stepId, name, status };
  const retrying = status === 'retrying' && { attempts, message: errorMessage };
  return { ...run, blocks: withUnderWay(run.blocks, { ...block, ...retrying }) };
}

/** Whether an event of `GET …/jobs/{executionId}/events` is the last one. */
export function isLastRunEvent({ event }: TryEvent): boolean {
  return RUN_ENDS.includes(event);
}

/**
 * Applies an event of `GET …/jobs/{executionId}/events`. Events do not carry the result; `GET …/jobs/{executionId}`
 * does.
 */
export function applyRunEvent(run: TryRun, { event, data }: TryEvent): TryRun {
  switch (event) {
    case 'run_started':
      return { ...run, status: 'running' };
    case 'block_started': {
      const { key, step_id: stepId, name } = data as Schemas['BlockStarted'];
      return { ...run, blocks: withUnderWay(run.blocks, { key, stepId, name, status: 'running' }) };
    }
    case 'block_retrying': {
      const { key, step_id, name, attempts, errorMessage } = data as Schemas['BlockRetrying'];
      const block = { key, stepId: step_id, name, status: 'retrying' as const, attempts };
      return { ...run, blocks: withUnderWay(run.blocks, { ...block, message: errorMessage }) };
    }
    case 'block_completed':
    case 'block_failed':
    case 'block_paused':
    case 'block_cancelled':
      return withCost({ ...run, blocks: withBlock(run.blocks, toTryBlock(data as Schemas['BlockRun'])) });
    case 'run_completed':
    case 'run_failed':
      return applyRunState(run, data as Schemas['JobState']);
    default:
      return run;
  }
}

/** Applies the state of a run, from `GET …/jobs/{executionId}` or the last event. */
export function applyRunState(run: TryRun, state: Schemas['JobState']): TryRun {
  const { status, durationMs, cost } = state;
  const isCancelled = status === 'failed' && state.code === 'CANCELLED';
  return {
    ...run,
    status: isCancelled ? 'cancelled' : status === 'completed' || status === 'failed' ? status : run.status,
    durationMs: durationMs ?? run.durationMs,
    cost,
    ...('blocks' in state &&
      state.blocks && { blocks: state.blocks.map(toTryBlock), tokens: tokensOf(state.blocks) }),
    ...(status === 'completed' && 'result' in state && { result: state.result }),
    ...(status === 'failed' && { failure: toFailure(state) }),
  };
}

/** Takes the cost and the tokens from the state of a session, whose earlier calls are not among its blocks here. */
export function applyTotals(run: TryRun, state: Schemas['JobState']): TryRun {
  const { cost } = state;
  return { ...run, cost, ...('blocks' in state && state.blocks && { tokens: tokensOf(state.blocks) }) };
}

/** Sums up the cost and the tokens of the blocks, until the receipt is known. */
function withCost(run: TryRun): TryRun {
  const cost = run.blocks.reduce((sum, { usage }) => sum + (usage?.cost ?? 0), 0);
  return { ...run, cost, tokens: tokensOf(run.blocks) };
}

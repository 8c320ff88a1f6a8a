import type { components } from '../../api/schema.d.ts';
import { type TryEvent, type TryRun, toFailure, toTryBlock, withBlock } from './try-run.ts';

export type Schemas = components['schemas'];

const RUN_ENDS = ['run_completed', 'run_failed', 'run_tool_calls_required', 'run_in_progress'];

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
      return { ...run, blocks: withBlock(run.blocks, { key, stepId, name, status: 'running' }) };
    }
    case 'block_retrying': {
      const { key, step_id, name, attempts, errorMessage } = data as Schemas['BlockRetrying'];
      const block = { key, stepId: step_id, name, status: 'retrying' as const, attempts };
      return { ...run, blocks: withBlock(run.blocks, { ...block, message: errorMessage }) };
    }
    case 'block_completed':
    case 'block_failed':
    case 'block_paused':
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
    ...('blocks' in state && state.blocks && { blocks: state.blocks.map(toTryBlock) }),
    ...(status === 'completed' && 'result' in state && { result: state.result }),
    ...(status === 'failed' && { failure: toFailure(state) }),
  };
}

/** Sums up the cost of the blocks, until the receipt is known. */
export function withCost(run: TryRun): TryRun {
  return { ...run, cost: run.blocks.reduce((sum, { usage }) => sum + (usage?.cost ?? 0), 0) };
}

import { type Schemas, withCost } from './apply-run-event.ts';
import { type TryEvent, type TryRun, toFailure, toTryBlock, withBlock } from './try-run.ts';

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
      const { stepId, key, output, blocks } = data as Schemas['StepBlockCompleted'];
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
      const { result, blocks } = data as Schemas['StepRunCompleted'];
      const known = blocks.reduce((all, block) => withBlock(all, toTryBlock(block)), run.blocks);
      return withCost({ ...run, status: 'completed', result, blocks: known, nextIndex: undefined });
    }
    case 'run_failed': {
      const failed = data as Schemas['StepRunFailed'];
      const known = failed.blocks.reduce((all, block) => withBlock(all, toTryBlock(block)), run.blocks);
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
  return { ...run, blocks: withBlock(run.blocks, { ...block, ...retrying }) };
}

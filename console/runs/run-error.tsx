import type { Step } from '../flow/draft/steps.ts';
import { Button } from '../ui/button.tsx';
import { BlockNotLoaded, type MoreBlocks } from './beyond-shown.tsx';
import { failedInBlock } from './failed-in-block.ts';
import style from './run-page.module.css';
import type { Run } from './run-path.ts';
import type { Execution } from './trace/spans.ts';

const REASONS: Record<string, string> = {
  credits_exhausted: 'The credits were used up.',
  byok_rejected: 'The provider rejected your own model key.',
};

/** Shows why and where a run failed. */
export function RunError({
  run,
  steps,
  executions,
  more,
  onChoose,
}: {
  run: Run;
  steps: Step[] | undefined;
  executions: readonly Execution[];
  more: MoreBlocks | undefined;
  onChoose: (execution: Execution) => void;
}) {
  if (run.status !== 'failed' || run.code === 'CANCELLED') return null;
  const failed = executions.findLast(({ status, step_id }) => status === 'failed' && step_id === run.step_id);
  return (
    <div role="alert" className={style.error}>
      <p dir="auto">
        {run.failureReason !== 'error' && `${REASONS[run.failureReason]} `}
        {run.errorMessage}
      </p>
      <div>
        <code>{run.code}</code>
        {failed ? (
          <Button size="small" onPress={() => onChoose(failed)}>
            Show the block that failed
          </Button>
        ) : (
          more && failedInBlock(run, steps) && <BlockNotLoaded block="The block that failed" more={more} />
        )}
      </div>
    </div>
  );
}

import { useMutation } from '@tanstack/react-query';
import { Play } from 'lucide-react';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback.tsx';
import { formatDuration } from '../../ui/format.ts';
import type { SequentialStep } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import { BlockValues } from '../try/block-values.tsx';
import { isUnderWay, type TryRun, toPlan } from '../try/try-run.ts';
import { useTry } from '../try/use-try.ts';
import style from './inspector.module.css';

/** The input and output of a block in the run that was tried last, and a button that runs the block on that input. */
export function LastTry({ step }: { step: SequentialStep }) {
  const { run, store } = useTry();
  const { steps, saveToRun } = useDraft();
  const index = steps.findIndex(({ step_id }) => step_id === step.step_id);
  const again = useMutation({
    async mutationFn({ executionId, mode, outputs }: TryRun) {
      await saveToRun();
      // A session continues with its outputs, which may be edited.
      const before = steps[index - 1]?.step_id;
      const goesOn = mode === 'steps' && (before === undefined || Object.hasOwn(outputs, before));
      if (goesOn) store.goTo(index);
      else await store.fork(executionId as string, index, toPlan(steps));
      await store.step(index);
    },
  });
  const block = run?.blocks.findLast(({ stepId }) => stepId === step.step_id);
  if (!run || !(block || again.isPending)) return null;
  const isBusy = isUnderWay(run) || again.isPending;
  const { status = 'running', usage, message, key = '' } = block ?? {};
  const hasEnded = status !== 'running' && status !== 'retrying';
  return (
    <section className={style.section} aria-label="Last try">
      <div className={style.sectionHead}>
        <h3>Last try</h3>
        <span className={style.facts}>
          <StatusBadge status={status} />
          {usage && <span>{formatDuration(usage.ms)}</span>}
          {run.version === 0 && index >= 0 && run.status !== 'tools' && (
            <Button size="small" isPending={isBusy} onPress={() => again.mutate(run)}>
              <Play size={12} aria-hidden /> Run this block
            </Button>
          )}
        </span>
      </div>
      {run.refused && <ErrorNote error={run.refused} />}
      {message && status !== 'completed' && <p className={style.problem}>{message}</p>}
      {run.executionId && hasEnded && <BlockValues executionId={run.executionId} blockKey={key} />}
    </section>
  );
}

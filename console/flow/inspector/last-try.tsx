import { useMutation } from '@tanstack/react-query';
import { Pin, Play } from 'lucide-react';
import { api } from '../../api/client.ts';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback.tsx';
import { formatDuration } from '../../ui/format.ts';
import { Elapsed } from '../../ui/time.tsx';
import type { SequentialStep } from '../draft/steps.ts';
import { useDraft, useFlow } from '../flow-context.ts';
import { BlockValues } from '../try/block-values.tsx';
import { usePins } from '../try/pins.ts';
import { isUnderWay, type TryRun, toPlan } from '../try/try-run.ts';
import { useTry } from '../try/use-try.ts';
import style from './inspector.module.css';

/** The input and output of a block in the run that was tried last. Runs the block on that input, and pins its output. */
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
  const { flow, org, project } = useFlow();
  const { pins, pin } = usePins();
  const pinning = useMutation({
    async mutationFn({ executionId, key }: { executionId: string; key: string }) {
      const path = { org, project, flow: flow.slug, executionId, key };
      const { data } = await api.GET(
        '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/blocks/{key}/output',
        { params: { path } },
      );
      pin(step.step_id, data);
    },
  });
  const block = run?.blocks.findLast(({ stepId }) => stepId === step.step_id);
  if (!run || !(block || again.isPending)) return null;
  const isBusy = isUnderWay(run) || again.isPending;
  const { status = 'running', since, usage, message, key = '' } = block ?? {};
  const isPinned = Object.hasOwn(pins, step.step_id);
  const { executionId } = run;
  const hasEnded = status !== 'running' && status !== 'retrying';
  return (
    <section className={style.section} aria-label="Last try">
      <div className={style.sectionHead}>
        <h3>Last try</h3>
        <span className={style.facts}>
          <StatusBadge status={status} />
          {block?.pinned && <Badge>Pinned</Badge>}
          {usage && <span>{formatDuration(usage.ms)}</span>}
          {since && !hasEnded && isUnderWay(run) && (
            <span>
              <Elapsed from={since} />
            </span>
          )}
          {executionId && status === 'completed' && !isPinned && (
            <Button
              size="small"
              isPending={pinning.isPending}
              onPress={() => pinning.mutate({ executionId, key })}
            >
              <Pin size={12} aria-hidden /> Pin output
            </Button>
          )}
          {run.version === 0 && !isPinned && index >= 0 && run.status !== 'tools' && (
            <Button size="small" isPending={isBusy} onPress={() => again.mutate(run)}>
              <Play size={12} aria-hidden /> Run this block
            </Button>
          )}
        </span>
      </div>
      {run.version === 0 && !isPinned && index < 0 && (
        <p className={style.help}>Only steps outside loops and parallel steps can be run alone.</p>
      )}
      {run.refused && <ErrorNote error={run.refused} />}
      {message && status !== 'completed' && <p className={style.problem}>{message}</p>}
      {run.executionId && hasEnded && <BlockValues executionId={run.executionId} blockKey={key} />}
    </section>
  );
}

import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Square } from 'lucide-react';
import { ApiError } from '../../api/api-error.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, Loading, Note } from '../../ui/feedback.tsx';
import { formatCount, formatCredits, formatDuration, shortId } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Fact, Facts } from '../../ui/page.tsx';
import { Elapsed } from '../../ui/time.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { locateProblem } from '../draft/problems.ts';
import { findStep } from '../draft/steps.ts';
import { useDraft, useFlow, useOpenStep } from '../flow-context.ts';
import { BlockList } from './block-list.tsx';
import { ProblemsNote } from './problems-note.tsx';
import { StepThrough } from './step-through.tsx';
import { ToolCallsForm } from './tool-calls-form.tsx';
import style from './try-panel.module.css';
import { hasEnded, isUnderWay, type TryRun } from './try-run.ts';
import type { TryStore } from './try-store.ts';

const BADGES: Partial<Record<TryRun['status'], string>> = {
  starting: 'pending',
  waiting: 'in_progress',
  tools: 'paused',
  unknown: 'Not known',
};

/** One run: status, tool calls to answer, blocks and result. */
export function RunView({ run, store }: { run: TryRun; store: TryStore }) {
  const { flow, org, project } = useFlow();
  const open = useOpenStep();
  const cancel = useMutation({ mutationFn: () => store.cancel() });
  const { executionId, status, failure, pause, blocks } = run;
  const { steps } = useDraft();
  const nameOf = (stepId: string) =>
    blocks.find((block) => block.stepId === stepId)?.name ?? findStep(steps, stepId)?.step.name ?? stepId;
  return (
    <section className={style.fields} aria-label="Run">
      <div className={style.runHead}>
        <Facts>
          <Fact name="Status">
            <span role="status">
              <StatusBadge status={BADGES[status] ?? status} />
            </span>
          </Fact>
          <Fact name="Version">{run.version === 0 ? 'Draft' : `v${run.version}`}</Fact>
          {status !== 'unknown' && (
            <>
              <Fact name="Credits">{formatCredits(run.cost)}</Fact>
              <Fact name="Tokens">{formatCount(run.tokens)}</Fact>
            </>
          )}
          {run.durationMs !== undefined ? (
            <Fact name="Time">{formatDuration(run.durationMs)}</Fact>
          ) : (
            isUnderWay(run) && (
              <Fact name="Time">
                <Elapsed from={new Date(run.startedAt).toISOString()} />
              </Fact>
            )
          )}
          {executionId && (
            <Fact name="Run">
              <Link
                to="/orgs/$org/projects/$project/flows/$flow/runs/$executionId"
                params={{ org, project, flow: flow.slug, executionId }}
              >
                <code>{shortId(executionId)}</code> Open
              </Link>
            </Fact>
          )}
        </Facts>
        {!hasEnded(run) && status !== 'unknown' && (
          <>
            <ReturnFocus />
            <Button size="small" isPending={cancel.isPending} onPress={() => cancel.mutate()}>
              <Square size={12} aria-hidden /> Cancel
            </Button>
          </>
        )}
      </div>
      {run.isReconnecting && isUnderWay(run) && (
        <Note>
          {executionId
            ? 'The connection was interrupted. The run continues, and this page will reconnect in a moment.'
            : 'No response has come yet. The request is repeated, and starts only one run.'}
        </Note>
      )}
      {run.refused && <Refusal error={run.refused} />}
      {failure && status !== 'cancelled' && (
        <div role="alert" className={style.failure}>
          <p>{failure.message}</p>
          {failure.stepId && (
            <Button size="small" onPress={() => open(failure.stepId)}>
              Show {nameOf(failure.stepId)}
            </Button>
          )}
        </div>
      )}
      {status === 'tools' && pause && (
        <>
          <Note tone="warn">
            <strong>{nameOf(pause.stepId)}</strong> asks for{' '}
            {pause.toolCalls.length === 1 ? 'a tool' : `${pause.toolCalls.length} tools`} (round{' '}
            {pause.iterationsUsed} of this block). Answer, and the run continues.
          </Note>
          <ToolCallsForm
            key={pause.toolCalls.map(({ id }) => id).join(' ')}
            calls={pause.toolCalls}
            isBusy={false}
            texts={run.typedResults}
            onType={(callId, text) => store.typeResult(callId, text)}
            onAnswer={(results) => void store.answer(results)}
          />
        </>
      )}
      {run.mode === 'steps' && <StepThrough key={run.startedAt} run={run} store={store} />}
      {status === 'completed' && (
        <div className={style.fields}>
          <h3>Result</h3>
          {/* The end of a run is known before its result, which may be null. */}
          {run.result === undefined ? (
            <Loading label="Loading the result …" />
          ) : (
            <JsonView value={run.result} label="Result" />
          )}
          {executionId && (
            <Link
              to="/orgs/$org/projects/$project/flows/$flow/tests"
              params={{ org, project, flow: flow.slug }}
              search={{ from: executionId } as never}
            >
              Save as test case
            </Link>
          )}
        </div>
      )}
      <BlockList run={run} />
    </section>
  );
}

/** Shows why a request was refused, and the steps to fix. */
function Refusal({ error }: { error: Error }) {
  const { steps } = useDraft();
  const found = error instanceof ApiError ? error.detail.problems : undefined;
  const problems = Array.isArray(found) ? (found as { path: string; message: string }[]) : [];
  if (problems.length === 0) return <ErrorNote error={error} />;
  const located = problems.map((problem) => locateProblem(steps, problem));
  return <ProblemsNote heading="The flow cannot run:" problems={located} />;
}

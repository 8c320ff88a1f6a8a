import type { Step } from '../../flow/draft/steps.ts';
import { Note } from '../../ui/note.tsx';
import type { Run, RunPath } from '../run-path.ts';
import { AnswerTools } from './answer-tools.tsx';
import style from './detail.module.css';
import type { TypedResults } from './use-typed-results.ts';

type PausedDetailProps = {
  run: Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  typed: TypedResults;
};

/** Says what a paused run waits for: tool results, which can be given here, or its caller's next step. */
export function PausedDetail({ run, path, projectId, steps, typed }: PausedDetailProps) {
  const calls = run.toolCalls ?? [];
  if (calls.length === 0)
    return <Note>This session waits for its caller to send the next step, or until it is cancelled.</Note>;
  return (
    <section className={style.value}>
      <h2>Waiting for tool calls</h2>
      <p>
        The model of <code>{run.pausedAtStep}</code> asks for{' '}
        {calls.length === 1 ? 'a result' : `${calls.length} results`}, its round {run.iterationsUsed}. The
        caller of the run sends them back; you can do so in its place, once.
      </p>
      <AnswerTools
        key={calls[0]?.id}
        run={run}
        calls={calls}
        path={path}
        projectId={projectId}
        steps={steps}
        typed={typed}
      />
    </section>
  );
}

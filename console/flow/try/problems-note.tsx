import { Note } from '../../ui/feedback.tsx';
import type { Problem } from '../draft/problems.ts';
import { findStep } from '../draft/steps.ts';
import { useDraft, useOpenStep } from '../flow-context.ts';
import style from './try-panel.module.css';

type Props = { heading: string; problems: Problem[]; max?: number };

/** Lists the problems that prevent a run, at most `max`, each with a button that opens its step. */
export function ProblemsNote({ heading, problems, max = problems.length }: Props) {
  const open = useOpenStep();
  const { steps } = useDraft();
  return (
    <Note tone="warn">
      {heading}
      <ul className={style.problems}>
        {problems.slice(0, max).map(({ stepId, field, message }) => (
          <li key={`${stepId} ${field} ${message}`}>
            {stepId && (
              <button type="button" className={style.link} onClick={() => open(stepId)}>
                {findStep(steps, stepId)?.step.name ?? stepId}
              </button>
            )}{' '}
            {message}
          </li>
        ))}
        {problems.length > max && <li>and {problems.length - max} more</li>}
      </ul>
    </Note>
  );
}

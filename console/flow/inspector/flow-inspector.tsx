import { formatCount } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Fact, Facts } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { eachStep, type Step } from '../draft/steps.ts';
import { useFlow } from '../flow-context.ts';
import style from './inspector.module.css';

/**
 * The flow as a whole: description, numbers, problems and notes. `missing` is the step in the address when the draft
 * has no such step.
 */
export function FlowInspector({ missing }: { missing: unknown }) {
  const { flow } = useFlow();
  const { steps, problems, notes, select } = useDraft();
  const all = [...eachStep(steps)].map(({ step }) => step);
  return (
    <div className={style.inspector}>
      {missing !== undefined && (
        <Note tone="warn">
          The draft has no step <code>{String(missing)}</code>: it may have been renamed or deleted since.
        </Note>
      )}
      <div className={style.names}>
        <h2>{flow.name}</h2>
        <p className={style.help}>
          {flow.description || 'No description yet: the flow’s menu has a place for one.'}
        </p>
      </div>
      <Facts>
        <Fact name="Steps">{formatCount(all.length)}</Fact>
        <Fact name="Model blocks">{formatCount(countKind(all, 'llm'))}</Fact>
        <Fact name="Code blocks">{formatCount(countKind(all, 'code'))}</Fact>
        <Fact name="Latest version">{flow.latestVersion ?? 'None yet'}</Fact>
        <Fact name="Last run">{flow.lastRun ? <Time at={flow.lastRun.startedAt} /> : 'None yet'}</Fact>
      </Facts>
      {problems.length > 0 && (
        <section className={style.section} aria-label="Problems">
          <h3>To fix before it can be published</h3>
          <ul className={style.steps}>
            {problems.map(({ stepId, field, message }) => (
              <li key={`${stepId} ${field} ${message}`}>
                <button type="button" onClick={() => select(stepId)} disabled={stepId === undefined}>
                  <code>{stepId ?? 'flow'}</code> <span className={style.problem}>{message}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notes.length > 0 && (
        <section className={style.section} aria-label="Notes">
          <h3>Good to know</h3>
          {notes.map((note) => (
            <p key={note} className={style.help}>
              {note}
            </p>
          ))}
        </section>
      )}
      <p className={style.help}>Select a step to see and change what it does.</p>
    </div>
  );
}

function countKind(steps: Step[], kind: 'llm' | 'code'): number {
  return steps.filter((step) => step.type === 'sequential' && step.processor_type === kind).length;
}

import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Note } from '../../ui/feedback.tsx';
import { Select } from '../../ui/fields/select.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { formatCount } from '../../ui/format.ts';
import { Fact, Facts } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { findStepIdProblem, followName } from '../draft/edit-steps.ts';
import type { Problem } from '../draft/problems.ts';
import { changeStep, eachStep, findStep, type SequentialStep, type Step, stepIdsOf } from '../draft/steps.ts';
import { useDraft, useFlow } from '../flow-context.ts';
import { usePins } from '../try/pins.ts';
import { useSide } from '../versions/flow-difference.tsx';
import { CodeFields, LlmFields } from './block-fields.tsx';
import { changeKind } from './change-fields.ts';
import style from './inspector.module.css';
import { LastTry } from './last-try.tsx';
import { LoopFields } from './loop-fields.tsx';
import { ParallelFields } from './parallel-fields.tsx';
import { PinnedOutput } from './pinned-output.tsx';
import { SchemaFields } from './schema-fields.tsx';
import { useStep } from './use-step.ts';

const KINDS = [
  { id: 'llm', label: 'Model call', description: 'Asks a model with a prompt' },
  { id: 'code', label: 'Code', description: 'Runs JavaScript' },
  {
    id: 'passthrough',
    label: 'Pass through',
    description: 'Hands its input on; can check it against a schema',
  },
] as const;

const TITLES = { parallel: 'Parallel step', loop: 'Loop' };

/** Shows the selected step and its fields, or the flow when no step is selected. */
export function Inspector() {
  const { steps, selectedId, renamedTo } = useDraft();
  const { step: named } = useSearch({ strict: false }) as { step?: unknown };
  const step = findStep(steps, selectedId)?.step;
  // Each step has its own form. The form, with the focus in it, stays when the step_id changes.
  const [shown, setShown] = useState({ stepId: selectedId, form: 0 });
  if (shown.stepId !== selectedId)
    setShown({ stepId: selectedId, form: selectedId === renamedTo ? shown.form : shown.form + 1 });
  return step ? <StepInspector key={shown.form} step={step} /> : <FlowInspector missing={named} />;
}

function StepInspector({ step }: { step: Step }) {
  const { problems, notes } = useStep(step);
  const ofStep = problems.filter(({ field }) => field === '');
  return (
    <div className={style.inspector}>
      <StepNames step={step} />
      {ofStep.map(({ message }) => (
        <p key={message} className={style.problem}>
          {message}
        </p>
      ))}
      {notes.map(({ field, message }) => (
        <Note key={`${field} ${message}`}>{message}</Note>
      ))}
      {step.type === 'sequential' && (
        <>
          <PinnedOutput step={step} />
          <LastTry step={step} />
        </>
      )}
      {step.type === 'parallel' && <ParallelFields step={step} />}
      {step.type === 'loop' && <LoopFields step={step} />}
      {step.type === 'sequential' && (
        <>
          {step.processor_type === 'llm' && <LlmFields step={step} />}
          {step.processor_type === 'code' && <CodeFields step={step} />}
          {step.processor_type === 'passthrough' && (
            <p className={style.help}>Passes its input on as it is; with JSON Schemas it checks it.</p>
          )}
          <SchemaFields step={step} />
        </>
      )}
    </div>
  );
}

/**
 * The flow as a whole: description, numbers, problems and notes. `missing` is the step in the address when the draft
 * has no such step.
 */
function FlowInspector({ missing }: { missing: unknown }) {
  const { flow } = useFlow();
  const { steps, problems, notes } = useDraft();
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
          <StepMessages messages={problems} tone={style.problem} />
        </section>
      )}
      {notes.length > 0 && (
        <section className={style.section} aria-label="Notes">
          <h3>Good to know</h3>
          <StepMessages messages={notes} tone={style.help} />
        </section>
      )}
      <p className={style.help}>Select a step to see and change what it does.</p>
    </div>
  );
}

/** Lists problems or notes, each with a button that selects its step. */
function StepMessages({ messages, tone }: { messages: Problem[]; tone: string | undefined }) {
  const { steps, select } = useDraft();
  return (
    <ul className={style.steps}>
      {messages.map(({ stepId, field, message }) => (
        <li key={`${stepId} ${field} ${message}`}>
          <button type="button" onClick={() => select(stepId)} disabled={stepId === undefined}>
            <strong>{findStep(steps, stepId)?.step.name ?? 'The flow'}</strong>{' '}
            <span className={tone}>{message}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function countKind(steps: Step[], kind: 'llm' | 'code'): number {
  return steps.filter((step) => step.type === 'sequential' && step.processor_type === kind).length;
}

/** Edits the name, step_id and kind of a step. */
function StepNames({ step }: { step: Step }) {
  const { steps, change } = useDraft();
  const rename = useRename();
  const { set, problemOf } = useStep(step);
  const nameBefore = useRef(step.name);
  const { latestVersion } = useFlow().flow;
  const published = useSide(latestVersion ?? 'draft').steps;
  /** Gives the step the step_id of its new name, unless prompts, code or a published version use the present one. */
  function follow() {
    const to = followName(steps, step, nameBefore.current);
    nameBefore.current = step.name;
    const isPublished = latestVersion !== null && (!published || findStep(published, step.step_id));
    if (to !== undefined && !isPublished) rename(step.step_id, to);
  }
  const isBlock = step.type === 'sequential';
  return (
    <div className={style.names}>
      <h2 className={style.title}>{isBlock ? 'Block' : TITLES[step.type]}</h2>
      <TextField
        label="Name"
        value={step.name}
        onChange={(name) => set('name', name)}
        onFocus={() => {
          nameBefore.current = step.name;
        }}
        onBlur={follow}
        error={step.name === '' ? 'Give the step a name.' : problemOf('name')}
        maxLength={200}
      />
      <div className={style.pair}>
        <StepId step={step} />
        {isBlock && (
          <Select<SequentialStep['processor_type']>
            label="Kind"
            options={KINDS}
            value={step.processor_type}
            onChange={(kind) =>
              kind !== step.processor_type &&
              change(`Change the kind of ${step.name}`, (steps) =>
                changeStep(steps, step.step_id, (now) =>
                  now.type === 'sequential' ? changeKind(now, kind) : now,
                ),
              )
            }
          />
        )}
      </div>
    </div>
  );
}

/** Returns a function that changes a step_id, also that of the pinned output. */
function useRename(): (from: string, to: string) => void {
  const { rename } = useDraft();
  const pins = usePins();
  return (from, to) => {
    rename(from, to);
    pins.rename(from, to);
  };
}

/** Changes the step_id, and the prompts and code that refer to it, when the field loses the focus. */
function StepId({ step }: { step: Step }) {
  const { steps } = useDraft();
  const rename = useRename();
  const [text, setText] = useState(step.step_id);
  useEffect(() => setText(step.step_id), [step.step_id]);
  const others = stepIdsOf(steps);
  others.delete(step.step_id);
  const problem = findStepIdProblem(text, others);
  function save() {
    if (text === step.step_id) return;
    if (problem === undefined) rename(step.step_id, text);
    else setText(step.step_id);
  }
  return (
    <TextField
      label="step_id"
      isMono
      value={text}
      onChange={setText}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') save();
        if (event.key === 'Escape') setText(step.step_id);
      }}
      error={problem}
    />
  );
}

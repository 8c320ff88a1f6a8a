import { useEffect, useState } from 'react';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { findStepIdProblem } from '../draft/step-id.ts';
import { changeStep, type SequentialStep, type Step, stepIdsOf } from '../draft/steps.ts';
import { changeKind } from './change-kind.ts';
import style from './inspector.module.css';
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

/** Edits the name, step_id and kind of a step. */
export function StepNames({ step }: { step: Step }) {
  const { change } = useDraft();
  const { set, problemOf } = useStep(step);
  const isBlock = step.type === 'sequential';
  return (
    <div className={style.names}>
      <h2 className={style.title}>{isBlock ? 'Block' : TITLES[step.type]}</h2>
      <TextField
        label="Name"
        value={step.name}
        onChange={(name) => set('name', name)}
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

/** Changes the step_id, and the prompts and code that refer to it, when the field loses the focus. */
function StepId({ step }: { step: Step }) {
  const { steps, rename } = useDraft();
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

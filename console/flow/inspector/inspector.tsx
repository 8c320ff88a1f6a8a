import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useDraft } from '../draft/draft-context.ts';
import { findStep, type Step } from '../draft/steps.ts';
import { CodeFields } from './code-fields.tsx';
import { FlowInspector } from './flow-inspector.tsx';
import style from './inspector.module.css';
import { LlmFields } from './llm-fields.tsx';
import { LoopFields } from './loop-fields.tsx';
import { ParallelFields } from './parallel-fields.tsx';
import { SchemaFields } from './schema-fields.tsx';
import { StepNames } from './step-names.tsx';
import { useStep } from './use-step.ts';

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
  const { problems } = useStep(step);
  const ofStep = problems.filter(({ field }) => field === '');
  return (
    <div className={style.inspector}>
      <StepNames step={step} />
      {ofStep.map(({ message }) => (
        <p key={message} className={style.problem}>
          {message}
        </p>
      ))}
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

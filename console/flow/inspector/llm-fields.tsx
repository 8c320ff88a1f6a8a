import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import type { SequentialStep } from '../draft/steps.ts';
import style from './inspector.module.css';
import { LlmConfig } from './llm-config.tsx';
import { ModelField } from './model-field.tsx';
import { useStep } from './use-step.ts';
import { variableScope } from './variable-scope.ts';

/** The fields of a model call. */
export function LlmFields({ step }: { step: SequentialStep }) {
  const { steps, set, configure, problemOf } = useStep(step);
  const scope = useMemo(() => variableScope(steps, step.step_id), [steps, step.step_id]);
  return (
    <div className={style.fields}>
      <ModelField step={step} />
      <CodeEditor
        label="Prompt"
        language="prompt"
        value={step.prompt ?? ''}
        onChange={(prompt) => set('prompt', prompt)}
        scope={scope}
        lines={[5, 22]}
        placeholder="What the model is asked"
        help={
          <>
            Type <code>{'{{'}</code> for the message, parameters and outputs of earlier steps.
          </>
        }
        error={problemOf('prompt')}
      />
      <CodeEditor
        label="System message"
        language="text"
        value={step.processor_config?.system ?? ''}
        onChange={(system) => configure('system', system || undefined)}
        lines={[2, 12]}
        placeholder="Sent before the prompt, as it is: without variables"
        error={problemOf('processor_config.system')}
      />
      <LlmConfig step={step} />
    </div>
  );
}

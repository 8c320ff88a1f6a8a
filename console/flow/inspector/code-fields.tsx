import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import type { EditorProblem } from '../../ui/code-editor/editor-types.ts';
import { NumberField } from '../../ui/number-field.tsx';
import type { Problem } from '../draft/problems.ts';
import type { SequentialStep } from '../draft/steps.ts';
import style from './inspector.module.css';
import { useStep } from './use-step.ts';

/** The fields of a code block. */
export function CodeFields({ step }: { step: SequentialStep }) {
  const { problems, set, configure, problemOf } = useStep(step);
  const reported = JSON.stringify(problems.filter(({ field }) => field === 'prompt'));
  const marked = useMemo(() => (JSON.parse(reported) as Problem[]).map(toEditorProblem), [reported]);
  return (
    <div className={style.fields}>
      <CodeEditor
        label="Code"
        language="javascript"
        value={step.prompt ?? ''}
        onChange={(code) => set('prompt', code, 'code')}
        problems={marked}
        lines={[8, 28]}
        help={
          <>
            The body of an async function of <code>input</code>, <code>message</code>, <code>parameters</code>{' '}
            and <code>outputs</code> (of earlier steps, by step_id). What it returns is the output. No
            network, files or timers.
          </>
        }
        error={problemOf('prompt')}
      />
      <NumberField
        label="Processor time, ms"
        value={step.processor_config?.timeout_ms}
        onChange={(value) => configure('timeout_ms', value)}
        min={1}
        max={30_000}
        placeholder="5000"
        error={problemOf('processor_config.timeout_ms')}
      />
    </div>
  );
}

/** Reads the line from the service's message: `SyntaxError: … (line 3 of the code).` */
function toEditorProblem({ message }: Problem): EditorProblem {
  const line = /\(line (\d+) of the code\)/.exec(message)?.[1];
  return { message, line: line === undefined ? undefined : Number(line) };
}

import { Pin } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import type { SequentialStep } from '../draft/steps.ts';
import { usePins } from '../try/pins.ts';
import { parseOutput } from '../try/try-input.ts';
import style from './inspector.module.css';

/** The pinned output of a block, to be edited or unpinned. */
export function PinnedOutput({ step: { step_id } }: { step: SequentialStep }) {
  const { pins, pin, unpin } = usePins();
  const [text, setText] = useState<string>();
  const [error, setError] = useState<string>();
  if (!Object.hasOwn(pins, step_id)) return null;

  function change(typed: string) {
    setText(typed);
    const { value, error } = parseOutput(typed);
    setError(error);
    if (error !== undefined) return;
    try {
      pin(step_id, value);
    } catch (wrong) {
      setError((wrong as Error).message);
    }
  }
  function forget() {
    unpin(step_id);
    setText(undefined);
    setError(undefined);
  }

  return (
    <section className={style.section} aria-label="Pinned output">
      <div className={style.sectionHead}>
        <h3>
          <Pin size={12} aria-hidden /> Pinned output
        </h3>
        <Button size="small" onPress={forget}>
          Unpin
        </Button>
      </div>
      <p className={style.help}>
        When you try the draft, this block does not run, and the next steps get this output. Only you have it,
        in this browser.
      </p>
      <CodeEditor
        label="Pinned output"
        hideLabel
        language="json"
        value={text ?? JSON.stringify(pins[step_id], null, 2)}
        onChange={change}
        error={error}
        lines={[2, 16]}
      />
    </section>
  );
}

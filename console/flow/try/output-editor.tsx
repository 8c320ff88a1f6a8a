import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Row } from '../../ui/page.tsx';
import style from './try-panel.module.css';

/** A longer output is not put into the editor, where it would hold up the page. */
const EDITED_MAX_CHARS = 500_000;

type Props = { output: unknown; isLast: boolean; onSave: (output: unknown) => void };

/** The output of a step, which the steps after it get as it is left here. */
export function OutputEditor({ output, isLast, onSave }: Props) {
  const [text, setText] = useState(() => JSON.stringify(output, null, 2) ?? 'null');
  const [error, setError] = useState<string>();
  if (text.length > EDITED_MAX_CHARS)
    return (
      <p className={style.faint}>
        This output has {formatBytes(text.length)}, too much to be edited here: open the run to read it.
      </p>
    );

  function save() {
    try {
      onSave(JSON.parse(text));
    } catch (wrong) {
      setError(`Must be JSON: ${wrong instanceof Error ? wrong.message : wrong}.`);
    }
  }
  return (
    <div className={style.values}>
      <CodeEditor
        label="Output"
        hideLabel
        language="json"
        value={text}
        {...(!isLast && { onChange: setText })}
        error={error}
        lines={[2, 16]}
      />
      {!isLast && (
        <Row>
          <Button size="small" onPress={save}>
            Use this output from here on
          </Button>
        </Row>
      )}
    </div>
  );
}

import { useMemo } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Row } from '../../ui/page.tsx';
import { EDITED_MAX_CHARS } from './try-input.ts';
import style from './try-panel.module.css';

type OutputEditorProps = {
  output: unknown;
  isLast: boolean;
  /** The edited text; undefined while it is unchanged. */
  text: string | undefined;
  error: string | undefined;
  onChange: (text: string) => void;
  onSave: () => void;
};

/** Edits the output of a step, which the following steps receive. */
export function OutputEditor({ output, isLast, text: typed, error, onChange, onSave }: OutputEditorProps) {
  const written = useMemo(() => JSON.stringify(output, null, 2) ?? 'null', [output]);
  const text = typed ?? written;
  if (text.length > EDITED_MAX_CHARS)
    return (
      <p className={style.faint}>
        This output has {formatBytes(text.length)}, too much to be edited here: open the run to read it.
      </p>
    );
  return (
    <div className={style.values}>
      <CodeEditor
        label="Output"
        hideLabel
        language="json"
        value={text}
        {...(!isLast && { onChange })}
        error={error}
        lines={[2, 16]}
      />
      {!isLast && (
        <Row>
          <Button size="small" onPress={onSave}>
            Use this output from here on
          </Button>
        </Row>
      )}
    </div>
  );
}

import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Row } from '../../ui/page.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { EDITED_MAX_CHARS } from './try-input.ts';
import style from './try-panel.module.css';

type MessageFieldProps = { value: string; onChange: (value: string) => void };

/** Edits the message of a run. A very long message, from a run that is tried again, cannot be edited. */
export function MessageField({ value, onChange }: MessageFieldProps) {
  const [isAnother, setAnother] = useState(false);
  if (value.length > EDITED_MAX_CHARS)
    return (
      <>
        <p className={style.faint}>
          The message has {formatBytes(value.length)}, too much to be edited here. It is sent as it is.
        </p>
        <Row>
          <Button
            size="small"
            onPress={() => {
              setAnother(true);
              onChange('');
            }}
          >
            Write another message
          </Button>
        </Row>
      </>
    );
  return (
    <TextField
      label="Message"
      rows={3}
      autoFocus={isAnother}
      value={value}
      onChange={onChange}
      help="The input of the first step, and {{message}} in prompts. Ctrl+Enter runs."
    />
  );
}

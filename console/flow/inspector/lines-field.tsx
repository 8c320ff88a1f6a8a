import { useState } from 'react';
import { TextField } from '../../ui/fields/text-field.tsx';

type Props = {
  label: string;
  values: string[];
  /** Called with the lines; undefined when there are none. */
  onChange: (values: string[] | undefined) => void;
  help: string;
  error?: string | undefined;
  isMono?: boolean;
};

/** Edits a list of texts, one per line. Empty lines are allowed while typing and ignored. */
export function LinesField({ values, onChange, help, ...props }: Props) {
  const [typed, setTyped] = useState('');
  const written = values.join('\n');
  const canEdit = values.every((value) => value !== '' && !value.includes('\n'));
  return (
    <TextField
      {...props}
      rows={2}
      value={splitLines(typed).join('\n') === written ? typed : written}
      isReadOnly={!canEdit}
      help={canEdit ? help : 'Cannot be changed here: one of the texts is empty or has a line break.'}
      onChange={(text) => {
        setTyped(text);
        const lines = splitLines(text);
        onChange(lines.length > 0 ? lines : undefined);
      }}
    />
  );
}

function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

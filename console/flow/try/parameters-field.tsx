// The fields of a run's input.
import { useMemo } from 'react';
import { CodeEditor } from '../../ui/code-editor/code-editor.tsx';
import { findChangedNumber } from '../../ui/find-changed-number.ts';
import { isObject } from '../../ui/is-object.ts';
import { TextField } from '../../ui/text-field.tsx';
import type { Step } from '../draft/steps.ts';
import { parametersUsed } from './try-input.ts';
import style from './try-panel.module.css';

type ParametersFieldProps = {
  /** JSON text. */
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  steps: Step[];
};

/** Edits the parameters of a run: a field for each one that the flow uses, and all of them as JSON. */
export function ParametersField({ value, onChange, error, steps }: ParametersFieldProps) {
  const used = parametersUsed(steps);
  const parameters = useMemo(() => readObject(value), [value]);
  const set = (name: string, text: string) => {
    const { [name]: _, ...rest } = parameters ?? {};
    const next = text === '' ? rest : { ...rest, [name]: text };
    onChange(Object.keys(next).length === 0 ? '' : JSON.stringify(next, null, 2));
  };
  const texts = used.filter((name) => ['string', 'undefined'].includes(typeof parameters?.[name]));
  return (
    <>
      {parameters &&
        texts.map((name) => (
          <TextField
            key={name}
            label={`Parameter ${name}`}
            value={String(parameters[name] ?? '')}
            onChange={(text) => set(name, text)}
          />
        ))}
      <details className={style.more} open={error !== undefined || undefined}>
        <summary>Parameters as JSON{value.trim() !== '' && ' · in use'}</summary>
        <CodeEditor
          label="Parameters"
          hideLabel
          language="json"
          value={value}
          onChange={onChange}
          error={error}
          placeholder={used.length > 0 ? `{ "${used[0]}": "…" }` : '{ "language": "en" }'}
          lines={[3, 12]}
        />
      </details>
    </>
  );
}

/** Parses a JSON object; undefined for other texts, and for numbers that would lose digits when written again. */
function readObject(text: string): Record<string, unknown> | undefined {
  if (findChangedNumber(text)) return undefined;
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

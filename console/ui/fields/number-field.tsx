import { useEffect, useState } from 'react';
import { fromNumber, toNumber } from './read-text.ts';
import { TextField } from './text-field.tsx';

type Props = {
  label: string;
  value: number | undefined;
  /** Called with each valid number, and with undefined when the field is emptied. */
  onChange: (value: number | undefined) => void;
  min: number;
  max: number;
  /** Whether only whole numbers are valid; true by default. */
  isWhole?: boolean;
  /** The value that applies when the field is empty. */
  placeholder?: string;
  /** The value to set when the field is emptied; undefined by default. */
  whenEmpty?: number;
  help?: string;
  /** Why the service does not accept the value. */
  error?: string | undefined;
  isDisabled?: boolean;
};

/** A number within bounds, or none. Invalid text stays in the field with the reason, and changes nothing. */
export function NumberField({
  value,
  onChange,
  min,
  max,
  isWhole = true,
  whenEmpty,
  error,
  ...props
}: Props) {
  const [text, setText] = useState(fromNumber(value));
  useEffect(() => {
    setText((text) => ((toNumber(text) ?? whenEmpty) === value ? text : fromNumber(value)));
  }, [value, whenEmpty]);
  const problem = findProblem(text, min, max, isWhole);
  return (
    <TextField
      {...props}
      value={text}
      inputMode={isWhole ? 'numeric' : 'decimal'}
      error={problem ?? error}
      onChange={(text) => {
        setText(text);
        if (findProblem(text, min, max, isWhole) === undefined) onChange(toNumber(text) ?? whenEmpty);
      }}
    />
  );
}

function findProblem(text: string, min: number, max: number, isWhole: boolean): string | undefined {
  const number = toNumber(text);
  if (number === undefined || (number >= min && number <= max && (!isWhole || Number.isInteger(number))))
    return undefined;
  return `Enter a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`;
}

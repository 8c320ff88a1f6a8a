import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import style from './call.module.css';

/** Lets the user choose one of a few options that are all visible. */
export function Choice<Id extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly { id: Id; label: string }[];
  value: Id;
  onChange: (id: Id) => void;
}) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={style.group ?? ''}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const [id] = keys;
        if (id !== undefined) onChange(id as Id);
      }}
    >
      {options.map(({ id, label }) => (
        <ToggleButton key={id} id={id} className={style.option ?? ''}>
          {label}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}

import { ChevronsUpDown } from 'lucide-react';
import {
  ComboBox as AriaComboBox,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  Popover,
} from 'react-aria-components';
import overlay from '../overlay.module.css';
import style from './combo-box.module.css';
import field from './field.module.css';
import { type Option, OptionItem } from './select.tsx';

type Props = {
  label: string;
  /** Suggestions, searched by label; undefined while they are loading. */
  options: readonly Option[] | undefined;
  value: string;
  /** Called with every entered text, even if it is not among the options. */
  onChange: (text: string) => void;
  placeholder?: string;
  error?: string | undefined;
};

/** A text field with suggestions; other values are allowed. */
export function ComboBox({ label, options, value, onChange, placeholder = '', error }: Props) {
  return (
    <AriaComboBox
      className={field.field}
      allowsCustomValue
      // Shows suggestions that arrive after the text was typed.
      allowsEmptyCollection
      menuTrigger="focus"
      defaultItems={options ?? []}
      inputValue={value}
      onInputChange={onChange}
      isInvalid={error !== undefined}
    >
      <Label className={field.label as string}>{label}</Label>
      <div className={style.box}>
        <Input className={field.input as string} placeholder={placeholder} />
        <Button className={style.open} aria-label={`Show all: ${label}`}>
          <ChevronsUpDown size={14} aria-hidden />
        </Button>
      </div>
      <FieldError className={field.error}>{error}</FieldError>
      <Popover className={overlay.popover}>
        <ListBox<Option>
          renderEmptyState={() => (
            <p className={style.empty}>
              {options === undefined ? 'Loading…' : 'Nothing in the list matches. Any text can be entered.'}
            </p>
          )}
        >
          {(option) => <OptionItem option={option} />}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}

import { ChevronsUpDown } from 'lucide-react';
import {
  ComboBox as AriaComboBox,
  Button,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components';
import style from './combo-box.module.css';
import field from './field.module.css';
import overlay from './overlay.module.css';
import type { Option } from './select.tsx';

type Props = {
  label: string;
  /** Suggestions, searched by their labels. */
  options: readonly Option[];
  value: string;
  /** Called with every text that is entered, also with one that is not among the options. */
  onChange: (text: string) => void;
  placeholder?: string;
  error?: string | undefined;
  isMono?: boolean;
};

/** A text field that suggests values; other values can be entered too. */
export function ComboBox({ label, options, value, onChange, placeholder = '', error }: Props) {
  return (
    <AriaComboBox
      className={field.field}
      allowsCustomValue
      menuTrigger="focus"
      defaultItems={options}
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
        <ListBox<Option>>
          {(option) => (
            <ListBoxItem id={option.id} textValue={option.label} className={overlay.item}>
              <div>
                <Text slot="label">{option.label}</Text>
                {option.description && (
                  <Text slot="description" elementType="div" className={field.help}>
                    {option.description}
                  </Text>
                )}
              </div>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  );
}

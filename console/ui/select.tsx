import { ChevronsUpDown } from 'lucide-react';
import {
  Select as AriaSelect,
  Button,
  Label,
  ListBox,
  Popover,
  SelectValue,
  Text,
} from 'react-aria-components';
import { classes } from './classes.ts';
import style from './field.module.css';
import { type Option, OptionItem } from './option-item.tsx';
import overlay from './overlay.module.css';

type Props<Id extends string> = {
  label: string;
  options: readonly Option<Id>[];
  value: Id | null;
  onChange: (id: Id) => void;
  help?: string;
  placeholder?: string;
  isDisabled?: boolean;
  hideLabel?: boolean;
};

/** A list of options to choose one from. */
export function Select<Id extends string>(props: Props<Id>) {
  const {
    label,
    options,
    value,
    onChange,
    help,
    placeholder = 'Choose …',
    isDisabled = false,
    hideLabel,
  } = props;
  return (
    <AriaSelect
      className={style.field}
      selectedKey={value}
      onSelectionChange={(key) => key !== null && onChange(key as Id)}
      placeholder={placeholder}
      isDisabled={isDisabled}
    >
      <Label className={hideLabel ? 'visually-hidden' : (style.label as string)}>{label}</Label>
      <Button className={classes(style.input, style.select)}>
        <SelectValue>{({ selectedText, defaultChildren }) => selectedText || defaultChildren}</SelectValue>
        <ChevronsUpDown size={14} aria-hidden />
      </Button>
      {help && (
        <Text slot="description" className={style.help}>
          {help}
        </Text>
      )}
      <Popover className={overlay.popover}>
        <ListBox items={options}>{(option) => <OptionItem option={option} />}</ListBox>
      </Popover>
    </AriaSelect>
  );
}

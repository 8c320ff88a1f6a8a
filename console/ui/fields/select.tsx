import { ChevronsUpDown } from 'lucide-react';
import {
  Select as AriaSelect,
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SelectValue,
  Text,
} from 'react-aria-components';
import { classes } from '../classes.ts';
import overlay from '../overlay.module.css';
import style from './field.module.css';
import field from './field.module.css';

export type Option<Id extends string = string> = { id: Id; label: string; description?: string };

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

/** An option of a `Select` or `ComboBox`, with its description. */
export function OptionItem({ option: { id, label, description } }: { option: Option }) {
  return (
    <ListBoxItem id={id} textValue={label} className={overlay.item}>
      <div>
        <Text slot="label">{label}</Text>
        {description && (
          <Text slot="description" elementType="div" className={field.help}>
            {description}
          </Text>
        )}
      </div>
    </ListBoxItem>
  );
}

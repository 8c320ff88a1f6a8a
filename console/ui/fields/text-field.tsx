import {
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  type TextFieldProps,
} from 'react-aria-components';
import { classes } from '../classes.ts';
import style from './field.module.css';

type Props = Omit<TextFieldProps, 'className' | 'children'> & {
  label: string;
  /** A sentence below the field. */
  help?: string;
  /** The reason why the value is invalid; marks the field. */
  error?: string | undefined;
  placeholder?: string;
  /** More than one makes a text area. */
  rows?: number;
  /** For code, keys and slugs. */
  isMono?: boolean;
  /** The label is only for assistive technology. */
  hideLabel?: boolean;
};

/** A text input with a label. */
export function TextField({ label, help, error, placeholder, rows = 1, isMono, hideLabel, ...props }: Props) {
  const input = classes(style.input, isMono && style.mono);
  return (
    <AriaTextField {...props} isInvalid={error !== undefined} className={style.field}>
      <Label className={hideLabel ? 'visually-hidden' : (style.label as string)}>{label}</Label>
      {rows > 1 ? (
        <TextArea rows={rows} className={input} {...(placeholder !== undefined && { placeholder })} />
      ) : (
        <Input className={input} {...(placeholder !== undefined && { placeholder })} />
      )}
      {help && (
        <Text slot="description" className={style.help}>
          {help}
        </Text>
      )}
      <FieldError className={style.error}>{error}</FieldError>
    </AriaTextField>
  );
}

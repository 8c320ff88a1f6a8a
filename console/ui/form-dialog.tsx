import type { ReactNode } from 'react';
import { Form } from 'react-aria-components';
import { otherError } from '../api/field-error.ts';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import page from './page.module.css';
import { ReturnFocus } from './use-return-focus.ts';

type FormDialogProps = {
  title: string;
  /** The verb of the button, such as `Create project`. */
  action: string;
  isOpen: boolean;
  onClose: () => void;
  onSubmit: () => void;
  /** The mutation that `onSubmit` starts; it has `meta: { quiet: true }`. */
  change: { error: Error | null; isPending: boolean };
  /** The fields that show their own errors (`fieldError`). */
  fields?: readonly string[];
  isReady?: boolean;
  /** See `Dialog`. */
  awaitsAnswer?: boolean;
  /** CSS length; see `Dialog`. */
  width?: string;
  children: ReactNode;
};

/** A dialog with a form. It stays open when the service refuses, and shows the error. */
export function FormDialog(props: FormDialogProps) {
  const {
    title,
    action,
    isOpen,
    onClose,
    onSubmit,
    change,
    fields = [],
    isReady = true,
    awaitsAnswer = false,
    width,
    children,
  } = props;
  const error = otherError(change.error, fields);
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      isForm
      onClose={onClose}
      isPending={change.isPending}
      awaitsAnswer={awaitsAnswer}
      {...(width !== undefined && { width })}
    >
      <ReturnFocus />
      <Form
        className={page.stack}
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !change.isPending) onSubmit();
        }}
      >
        {children}
        {error && <ErrorNote error={error} />}
        <DialogActions>
          <Button slot="close" isDisabled={awaitsAnswer && change.isPending}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" isPending={change.isPending} isDisabled={!isReady}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

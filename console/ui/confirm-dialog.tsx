import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';
import { ReturnFocus } from './use-return-focus.ts';

type ConfirmDialogProps = {
  title: string;
  /** The verb of the button, such as `Revoke`. */
  action: string;
  /** The label of the other button; `Cancel` by default. */
  cancelLabel?: string;
  isOpen: boolean;
  onClose: () => void;
  /** Performs the action. The dialog closes on success, and shows the error otherwise. */
  onConfirm: () => Promise<unknown>;
  children: ReactNode;
};

/** Asks before an action that cannot be undone. */
export function ConfirmDialog({
  title,
  action,
  cancelLabel = 'Cancel',
  isOpen,
  onClose,
  onConfirm,
  children,
}: ConfirmDialogProps) {
  const confirm = useMutation({ mutationFn: onConfirm, meta: { quiet: true } });
  function close() {
    // The dialog may open again for something else.
    confirm.reset();
    onClose();
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close} isPending={confirm.isPending}>
      <ReturnFocus />
      <div>{children}</div>
      {confirm.error && <ErrorNote error={confirm.error} />}
      <DialogActions>
        <Button slot="close">{cancelLabel}</Button>
        <Button
          variant="danger"
          isPending={confirm.isPending}
          // Not passed to `useMutation`: a closed dialog may be open again for something else.
          onPress={() => confirm.mutate(undefined, { onSuccess: onClose })}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

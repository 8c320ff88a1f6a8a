import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { ErrorNote } from './error-note.tsx';

type Props = {
  title: string;
  /** The verb of the button, such as `Revoke`. */
  action: string;
  isOpen: boolean;
  onClose: () => void;
  /** Does it; the dialog closes when that succeeds, and shows the error otherwise. */
  onConfirm: () => Promise<unknown>;
  children: ReactNode;
};

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, action, isOpen, onClose, onConfirm, children }: Props) {
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose, meta: { quiet: true } });
  function close() {
    // What comes of it is said here.
    if (confirm.isPending) return;
    // The dialog may be opened again, for something else.
    confirm.reset();
    onClose();
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <div>{children}</div>
      {confirm.error && <ErrorNote error={confirm.error} />}
      <DialogActions>
        <Button isDisabled={confirm.isPending} onPress={close}>
          Cancel
        </Button>
        <Button variant="danger" isPending={confirm.isPending} onPress={() => confirm.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

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
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div>{children}</div>
      {confirm.error && <ErrorNote error={confirm.error} />}
      <DialogActions>
        <Button onPress={onClose}>Cancel</Button>
        <Button variant="danger" isPending={confirm.isPending} onPress={() => confirm.mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions, useIsMounted } from '../ui/dialog.tsx';
import { ErrorNote } from '../ui/feedback.tsx';
import { TextField } from '../ui/fields/text-field.tsx';
import { showToast } from '../ui/toast.tsx';

type Cancelled = { runs: number; testRuns: number; deliveries: number };

type Props = {
  kind: 'organization' | 'project';
  slug: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => Promise<{ data?: { cancelled: Cancelled } }>;
  onDeleted: () => Promise<void>;
};

/** Deletes an organization or a project after its slug was typed, and reports what was cancelled. */
export function DeleteBySlugDialog({ kind, slug, isOpen, onClose, onConfirm, onDeleted }: Props) {
  const isMounted = useIsMounted();
  const [typed, setTyped] = useState('');
  const remove = useMutation({
    mutationFn: onConfirm,
    meta: { quiet: true },
    async onSuccess({ data }) {
      if (isMounted.current) onClose();
      await onDeleted();
      showToast({ tone: 'good', title: `Deleted ${slug}. ${data ? describe(data.cancelled) : ''}` });
    },
  });
  return (
    <Dialog
      title={`Delete the ${kind} ${slug}?`}
      isOpen={isOpen}
      isForm
      onClose={onClose}
      isPending={remove.isPending}
    >
      <p>
        This cannot be undone. Its flows can no longer be called, its API keys stop working at once, and runs,
        test runs and webhook deliveries that are under way are cancelled.
      </p>
      <TextField label={`Type ${slug} to confirm`} isMono autoFocus value={typed} onChange={setTyped} />
      {remove.error && <ErrorNote error={remove.error} />}
      <DialogActions>
        <Button slot="close">Cancel</Button>
        <Button
          variant="danger"
          isDisabled={typed !== slug}
          isPending={remove.isPending}
          onPress={() => remove.mutate()}
        >
          Delete {kind}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function describe({ runs, testRuns, deliveries }: Cancelled): string {
  return `Cancelled: ${counted(runs, 'run')}, ${counted(testRuns, 'test run')}, ${counted(deliveries, 'delivery', 'deliveries')}.`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

import { RotateCcw, Square } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { BulkDialog } from './bulk-dialog.tsx';
import type { Bulk } from './bulk-runs.ts';
import { findBulkObstacle, type RunFilter } from './run-filter.ts';

type BulkActionsProps = { projectId: string; filter: RunFilter; onDone: () => void };

const LABELS = {
  retry: { label: 'Retry failed', title: 'Retry failed runs', icon: RotateCcw },
  cancel: { label: 'Cancel all matching', title: 'Cancel all matching runs', icon: Square },
};

/** The buttons that cancel or retry all runs that match the filter. */
export function BulkActions(props: BulkActionsProps) {
  return (
    <>
      <BulkAction how="cancel" {...props} />
      <BulkAction how="retry" {...props} />
    </>
  );
}

/** Opens the dialog, or says why the filter does not allow it. */
function BulkAction({ how, ...props }: BulkActionsProps & { how: Bulk }) {
  const [isOpen, setOpen] = useState(false);
  const { label, title, icon: Icon } = LABELS[how];
  const obstacle = findBulkObstacle(how, props.filter);
  const close = () => setOpen(false);
  if (obstacle)
    return (
      <IconButton label={`${title}. ${obstacle}`} variant="secondary" onPress={() => setOpen(true)}>
        <Icon size={14} />
        {isOpen && (
          <Dialog title={title} isOpen onClose={close}>
            <p>{obstacle}</p>
          </Dialog>
        )}
      </IconButton>
    );
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <Icon size={14} aria-hidden /> {label} …
      </Button>
      {isOpen && <BulkDialog how={how} title={title} {...props} onClose={close} />}
    </>
  );
}

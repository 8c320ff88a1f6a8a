import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { Changes } from './conflict-dialog.tsx';

/** Asks before undoing somebody else's saved change. */
export function UndoDialog() {
  const { steps, asksUndo, undoesElsewhere, undoSteps, undoElsewhere, keepElsewhere } = useDraft();
  if (!asksUndo || !undoesElsewhere || !undoSteps) return null;
  return (
    <Dialog title="Undo what was changed elsewhere?" isOpen onClose={keepElsewhere}>
      <div>
        <p>
          The last change was made elsewhere. Undo reverts it for everybody. After that, undo reaches your own
          earlier changes.
        </p>
        <Changes from={undoSteps} to={steps} />
      </div>
      <DialogActions>
        <Button variant="danger" onPress={undoElsewhere}>
          Undo these changes
        </Button>
        <Button variant="primary" onPress={keepElsewhere}>
          Keep them
        </Button>
      </DialogActions>
    </Dialog>
  );
}

import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { describeDifference } from '../draft/describe-difference.ts';
import { useDraft } from '../draft/draft-context.ts';

const LINES_MAX = 12;

/** Asks before undo takes back what somebody else has changed and saved. */
export function UndoDialog() {
  const { steps, asksUndo, undoesElsewhere, undoSteps, undoElsewhere, keepElsewhere } = useDraft();
  if (!asksUndo || !undoesElsewhere || !undoSteps) return null;
  const lines = describeDifference(undoSteps, steps);
  return (
    <Dialog title="Undo what was changed elsewhere?" isOpen onClose={keepElsewhere}>
      <div>
        <p>
          The last change was not made here. Undo takes it back for everybody. Only after that does it reach
          your own earlier changes.
        </p>
        <ul>
          {lines.slice(0, LINES_MAX).map((line) => (
            <li key={line}>{line}</li>
          ))}
          {lines.length > LINES_MAX && <li>and {lines.length - LINES_MAX} more</li>}
        </ul>
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

import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeDifference } from '../../ui/code-editor/code-editor.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import { describeDifference } from '../draft/compare-steps.ts';
import type { Step } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import style from './editor.module.css';

const LINES_MAX = 12;

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

/** Compares the draft here with the service's, and lets the user choose one. */
export function ConflictDialog({ onClose }: { onClose: () => void }) {
  const { steps, saved, conflict, resolve } = useDraft();
  const [isSaving, setSaving] = useState(false);
  if (!conflict) return null;
  const mine = toText(steps);
  return (
    <Dialog title="Two drafts" isOpen onClose={onClose} width="60rem">
      <div className={style.drafts}>
        <section>
          <h3>Changed elsewhere</h3>
          <Changes from={saved.steps} to={conflict.steps} />
        </section>
        <section>
          <h3>Changed here</h3>
          <Changes from={saved.steps} to={steps} />
        </section>
      </div>
      <CodeDifference
        label="The draft elsewhere, and yours"
        before={toText(conflict.steps)}
        after={mine}
        language="json"
      />
      <DialogActions>
        <Button
          variant="quiet"
          onPress={() =>
            navigator.clipboard.writeText(mine).then(
              () => showToast({ tone: 'good', title: 'Your draft is copied as JSON.' }),
              () => showToast({ tone: 'bad', title: 'The browser did not allow copying.' }),
            )
          }
        >
          Copy mine
        </Button>
        <Button
          onPress={() => {
            void resolve('theirs');
            onClose();
          }}
        >
          Take theirs
        </Button>
        <Button
          variant="primary"
          isPending={isSaving}
          onPress={async () => {
            setSaving(true);
            await resolve('mine');
            onClose();
          }}
        >
          Replace theirs with mine
        </Button>
      </DialogActions>
      <p className={style.hint}>
        If you take theirs, undo brings yours back, once it has asked. If you replace theirs, what was changed
        elsewhere is gone from the draft; a draft that is changed once more meanwhile is not replaced.
      </p>
    </Dialog>
  );
}

/** Lists the changes between two trees, at most 12. */
function Changes({ from, to }: { from: Step[]; to: Step[] }) {
  const lines = describeDifference(from, to);
  return (
    <ul>
      {lines.slice(0, LINES_MAX).map((line) => (
        <li key={line}>{line}</li>
      ))}
      {lines.length > LINES_MAX && <li>and {lines.length - LINES_MAX} more</li>}
    </ul>
  );
}

function toText(steps: Step[]): string {
  return JSON.stringify(steps, null, 2);
}

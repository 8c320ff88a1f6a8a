import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { Note } from '../../ui/note.tsx';
import { ReturnFocus } from '../../ui/use-return-focus.ts';
import { useDraft } from '../draft/draft-context.ts';
import { ConflictDialog } from './conflict-dialog.tsx';
import style from './editor.module.css';
import { LastEditor } from './last-editor.tsx';

/** Says above the graph that the draft was changed elsewhere, is refused, or is not saved. */
export function DraftNotes() {
  const { saveState, message, conflict, undo, undoElsewhere, takenOver, undoesElsewhere, hasElsewhere } =
    useDraft();
  const [isComparing, setComparing] = useState(false);
  const [dismissed, dismiss] = useState(0);
  // The message stays while saving is retried.
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    if (saveState === 'offline') setFailure(message ?? '');
    else if (saveState !== 'saving') setFailure(undefined);
  }, [saveState, message]);
  if (saveState === 'conflict')
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <div className={style.noteLine}>
            <span>
              <strong>The draft was changed elsewhere while you changed it here.</strong> Nothing has been
              overwritten; your changes are kept here until you choose.{' '}
              {conflict && <LastEditor change={conflict.etag} />}
            </span>
            <Button size="small" onPress={() => setComparing(true)}>
              Compare and choose
            </Button>
          </div>
        </Note>
        {isComparing && <ConflictDialog onClose={() => setComparing(false)} />}
      </div>
    );
  if (saveState === 'refused')
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <div className={style.noteLine}>
            <span>
              <strong>The service does not accept this draft, so it is not saved.</strong> {message}
            </span>
            <Button size="small" onPress={undo}>
              Undo the last change
            </Button>
          </div>
        </Note>
      </div>
    );
  if (failure !== undefined)
    return (
      <div className={style.note} role="alert">
        <Note tone="warn">
          <strong>The draft is not saved yet. Saving will be retried.</strong> {failure}
        </Note>
      </div>
    );
  if (takenOver <= dismissed || !hasElsewhere) return null;
  return (
    <div className={style.note} role="status">
      <ReturnFocus />
      <Note>
        <div className={style.noteLine}>
          <span>
            The draft was changed elsewhere, and is shown as it is now. <LastEditor change={`${takenOver}`} />
          </span>
          {undoesElsewhere && (
            <Button size="small" onPress={undoElsewhere}>
              Undo these changes
            </Button>
          )}
          <IconButton label="Close" size="small" onPress={() => dismiss(takenOver)}>
            <X size={14} />
          </IconButton>
        </div>
      </Note>
    </div>
  );
}

import { Button } from '../../ui/button.tsx';
import { Note } from '../../ui/note.tsx';
import { useDraft } from '../draft/draft-context.ts';
import style from './versions.module.css';

const PROBLEMS_SHOWN_MAX = 8;
const UNSAVED = {
  saved: undefined,
  saving: 'The draft is being saved …',
  unsaved: 'The draft is being saved …',
  conflict: 'The draft was changed elsewhere too. Close this and choose between the two.',
  refused: 'The draft cannot be saved as it is.',
  offline: 'The draft is not saved: the service cannot be reached.',
};

/** Lists what prevents publishing; nothing when the draft can be published. */
export function PublishObstacles({ onLeave }: { onLeave: () => void }) {
  const { saveState, message, problems, select } = useDraft();
  const unsaved = UNSAVED[saveState];
  return (
    <>
      {unsaved && (
        <Note tone="warn">
          {unsaved} {saveState === 'refused' && message}
        </Note>
      )}
      {problems.length > 0 && (
        <Note tone="warn">
          <p>To fix before it can be published:</p>
          <ul className={style.changes}>
            {problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ stepId, field, message }) => (
              <li key={`${stepId} ${field} ${message}`}>
                {stepId !== undefined && (
                  <Button
                    size="small"
                    onPress={() => {
                      onLeave();
                      select(stepId);
                    }}
                  >
                    {stepId}
                  </Button>
                )}
                <span>{message}</span>
              </li>
            ))}
            {problems.length > PROBLEMS_SHOWN_MAX && <li>and {problems.length - PROBLEMS_SHOWN_MAX} more</li>}
          </ul>
        </Note>
      )}
    </>
  );
}

import { CircleAlert, CircleCheck, CloudOff, LoaderCircle, Pencil } from 'lucide-react';
import badge from '../../ui/badge.module.css';
import { useDraft } from '../draft/draft-context.ts';
import type { SaveState } from '../draft/draft-state.ts';
import style from './editor.module.css';

const LOOKS = {
  saved: { Icon: CircleCheck, text: 'Saved' },
  saving: { Icon: LoaderCircle, text: 'Saving …' },
  unsaved: { Icon: Pencil, text: 'Not saved yet' },
  conflict: { Icon: CircleAlert, text: 'Changed elsewhere' },
  refused: { Icon: CircleAlert, text: 'Not accepted' },
  offline: { Icon: CloudOff, text: 'Not saved; trying again' },
} satisfies Record<SaveState, unknown>;

/** Shows whether the draft is saved. */
export function SaveStatus() {
  const { saveState, message } = useDraft();
  const { Icon, text } = LOOKS[saveState];
  return (
    <span className={style.saveState} data-state={saveState} title={message}>
      <Icon size={14} className={saveState === 'saving' ? badge.spin : undefined} aria-hidden />
      <span>{text}</span>
      <span className="visually-hidden" role="status">
        {saveState === 'saved' && 'The draft is saved.'}
      </span>
    </span>
  );
}

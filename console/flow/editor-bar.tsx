import { Redo2, Undo2 } from 'lucide-react';
import { IconButton } from '../ui/icon-button.tsx';
import { useDraft } from './draft/draft-context.ts';
import style from './editor-page.module.css';

/** Above the graph: whether the draft is saved, undo and redo. */
export function EditorBar() {
  const { saveState, undo, redo, canUndo, canRedo } = useDraft();
  return (
    <div className={style.bar}>
      <IconButton label="Undo" isDisabled={!canUndo} onPress={undo}>
        <Undo2 size={16} />
      </IconButton>
      <IconButton label="Redo" isDisabled={!canRedo} onPress={redo}>
        <Redo2 size={16} />
      </IconButton>
      <span>{saveState}</span>
    </div>
  );
}

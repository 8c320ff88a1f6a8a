import { PanelRight, Play, Redo2, Undo2 } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { useDraft } from '../draft/draft-context.ts';
import { PublishButton } from '../publish-button.tsx';
import style from './editor.module.css';
import { ProblemsMenu } from './problems-menu.tsx';
import { SaveStatus } from './save-status.tsx';

type Props = {
  isTrying: boolean;
  onTry: () => void;
  /** Opens the details panel, where there is no room for it beside the graph. */
  onDetails: (() => void) | undefined;
  onOpen: (stepId: string) => void;
};

/** The bar above the graph: undo, redo, save status, problems, try and publish. */
export function EditorBar({ isTrying, onTry, onDetails, onOpen }: Props) {
  const { undo, redo, canUndo, canRedo, undoLabel, redoLabel } = useDraft();
  return (
    <div className={style.bar}>
      <IconButton label={undoLabel ? `Undo: ${undoLabel}` : 'Undo'} isDisabled={!canUndo} onPress={undo}>
        <Undo2 size={16} />
      </IconButton>
      <IconButton label={redoLabel ? `Redo: ${redoLabel}` : 'Redo'} isDisabled={!canRedo} onPress={redo}>
        <Redo2 size={16} />
      </IconButton>
      <SaveStatus />
      <span className={style.end}>
        <ProblemsMenu onOpen={onOpen} />
        {onDetails && (
          <IconButton label="Details" onPress={onDetails}>
            <PanelRight size={16} />
          </IconButton>
        )}
        <Button onPress={onTry} aria-expanded={isTrying}>
          <Play size={14} aria-hidden /> Try it
        </Button>
        <PublishButton />
      </span>
    </div>
  );
}

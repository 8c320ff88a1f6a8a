import {
  CircleAlert,
  CircleCheck,
  CloudOff,
  LoaderCircle,
  PanelRight,
  Pencil,
  Play,
  Redo2,
  TriangleAlert,
  Undo2,
} from 'lucide-react';
import badge from '../../ui/badge.module.css';
import { Button, IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { SaveState } from '../draft/draft-store.ts';
import { findStep } from '../draft/steps.ts';
import { useDraft } from '../flow-context.ts';
import { PublishButton } from '../publish-dialog.tsx';
import style from './editor.module.css';

const LOOKS = {
  saved: { Icon: CircleCheck, text: 'Saved' },
  saving: { Icon: LoaderCircle, text: 'Saving …' },
  unsaved: { Icon: Pencil, text: 'Not saved yet' },
  conflict: { Icon: CircleAlert, text: 'Changed elsewhere' },
  refused: { Icon: CircleAlert, text: 'Not accepted' },
  offline: { Icon: CloudOff, text: 'Not saved; trying again' },
} satisfies Record<SaveState, unknown>;

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

/** Lists the problems that prevent publishing; choosing one opens its step. */
function ProblemsMenu({ onOpen }: { onOpen: (stepId: string) => void }) {
  const { steps, problems } = useDraft();
  if (problems.length === 0) return null;
  return (
    <Menu
      label="To fix before publishing"
      trigger={
        <Button variant="quiet">
          <TriangleAlert size={14} className={style.warning} aria-hidden />
          {problems.length} to fix
        </Button>
      }
    >
      {problems.map(({ stepId, message }, index) => (
        <MenuItem
          // biome-ignore lint/suspicious/noArrayIndexKey: a step may have the same problem twice
          key={index}
          textValue={message}
          onAction={() => stepId !== undefined && onOpen(stepId)}
        >
          <span className={style.problem}>
            <strong>{findStep(steps, stepId)?.step.name ?? 'The flow'}</strong>
            <span>{message}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}

/** Shows whether the draft is saved. */
function SaveStatus() {
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

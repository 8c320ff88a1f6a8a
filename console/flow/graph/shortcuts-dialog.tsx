import { Dialog } from '../../ui/dialog.tsx';
import style from './graph.module.css';

const READING: [keys: string[], what: string][] = [
  [['↑', '↓', '←', '→'], 'Go to the step above, below or beside'],
  [['Home', 'End'], 'Go to the first or last step'],
  [['Enter'], 'Open the step'],
  [['Esc'], 'Select none'],
  [['+', '−', '0'], 'Zoom in, zoom out, show the whole flow'],
  [['Ctrl C'], 'Copy the step as JSON'],
];
const EDITING: [keys: string[], what: string][] = [
  [['A'], 'Add a step after it'],
  [['Shift A'], 'Add a step before it'],
  [['D'], 'Duplicate'],
  [['Delete'], 'Delete'],
  [['Alt ↑', 'Alt ↓'], 'Move up or down'],
  [['Ctrl V'], 'Paste steps, as JSON or YAML, after it'],
  [['Ctrl Z'], 'Undo'],
  [['Ctrl Shift Z', 'Ctrl Y'], 'Redo'],
];

/** Lists the keyboard shortcuts of the graph. */
export function ShortcutsDialog({
  isOpen,
  isEditing,
  onClose,
}: {
  isOpen: boolean;
  isEditing: boolean;
  onClose: () => void;
}) {
  const keys = isEditing ? [...READING, ...EDITING] : READING;
  return (
    <Dialog title="Keys of the graph" isOpen={isOpen} onClose={onClose}>
      <dl className={style.shortcuts}>
        {keys.map(([names, what]) => (
          <div key={what}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

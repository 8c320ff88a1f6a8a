import { type ClipboardEvent, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Dialog } from '../../ui/dialog.tsx';
import { findStep, type Place } from '../draft/steps.ts';
import style from './graph.module.css';
import type { FlowGraphProps, StepAction } from './graph-props.ts';
import { placeName } from './layout.ts';
import { type Direction, findNeighbour } from './step-neighbours.ts';
import type { GraphView } from './use-graph-view.ts';

const DIRECTIONS: Record<string, Direction> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
};

const ACTIONS: Record<string, StepAction> = { Delete: 'remove', Backspace: 'remove', d: 'duplicate' };
const SHIFTS: Record<string, StepAction> = { ArrowUp: 'up', ArrowDown: 'down' };

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

/** Handles the keyboard shortcuts while a step has the focus. */
export function useGraphKeys(root: RefObject<HTMLDivElement | null>, props: FlowGraphProps, view: GraphView) {
  const { steps, selectedId, onSelect, onOpen, editing } = props;
  const [hasShortcuts, setShortcuts] = useState(false);
  useFocusOnSelected(root, selectedId);

  function act(key: string, id: string, event: KeyboardEvent): boolean {
    const direction = DIRECTIONS[key];
    const shift = event.altKey ? SHIFTS[key] : undefined;
    const action = shift ?? ACTIONS[key];
    if (editing && action) editing.act(action, id);
    else if (direction && !event.altKey) go(findNeighbour(steps, id, direction)?.step_id ?? id);
    else if (key === 'Enter' || key === ' ') open(id);
    else if (key === 'Escape') onSelect?.(undefined);
    else if (key === '+' || key === '-') view.zoom(key === '+' ? 'in' : 'out');
    else if (key === '0') view.fit();
    else if (key === '?') setShortcuts(true);
    else if (editing && key.toLowerCase() === 'a') openMenu(id, key === 'a' ? 1 : 0);
    else return false;
    return true;
  }

  function go(id: string) {
    onSelect?.(id);
    focusStep(root.current, id);
  }

  function open(id: string) {
    onSelect?.(id);
    onOpen?.(id);
  }

  function openMenu(id: string, offset: 0 | 1) {
    const place = findStep(steps, id)?.place;
    if (place) gapButton(root.current, { ...place, index: place.index + offset })?.click();
  }

  return {
    hasShortcuts,
    closeShortcuts: () => setShortcuts(false),
    handlers: {
      onKeyDown(event: KeyboardEvent) {
        const id = stepOf(event.target);
        if (id === undefined || event.ctrlKey || event.metaKey) return;
        if (act(event.key, id, event)) event.preventDefault();
      },
      onCopy(event: ClipboardEvent) {
        const step = findStep(steps, stepOf(event.target))?.step;
        if (!step) return;
        event.clipboardData.setData('text/plain', JSON.stringify(step, null, 2));
        event.preventDefault();
      },
      onPaste(event: ClipboardEvent) {
        const id = stepOf(event.target);
        if (id !== undefined) editing?.paste(event.clipboardData.getData('text/plain'), id);
      },
    },
  };
}

/** Finds the button that adds a step at a place. */
function gapButton(root: Element | null, place: Place): HTMLElement | undefined {
  const name = placeName(place);
  return [...(root?.querySelectorAll<HTMLElement>('[data-place]') ?? [])].find(
    (button) => button.dataset.place === name,
  );
}

function stepOf(target: EventTarget): string | undefined {
  return target instanceof HTMLElement ? target.dataset.step : undefined;
}

function focusStep(root: Element | null, id: string): void {
  root?.querySelector<HTMLElement>(`[data-step="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

/** Moves the focus to the selected step, unless the focus is elsewhere on the page. */
function useFocusOnSelected(root: RefObject<HTMLDivElement | null>, selectedId: string | undefined): void {
  const last = useRef(selectedId);
  useEffect(() => {
    if (last.current === selectedId || selectedId === undefined) return;
    last.current = selectedId;
    const focus = () => {
      const { activeElement } = document;
      if (activeElement !== document.body && !root.current?.contains(activeElement)) return;
      focusStep(root.current, selectedId);
    };
    // A closing menu restores the focus first.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(focus);
    });
    return () => cancelAnimationFrame(frame);
  }, [root, selectedId]);
}

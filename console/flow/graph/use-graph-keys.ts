import { type ClipboardEvent, type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { findStep, type Place } from '../draft/steps.ts';
import type { FlowGraphProps } from './flow-graph-props.ts';
import type { StepAction } from './graph-editing.ts';
import { placeName } from './place-name.ts';
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

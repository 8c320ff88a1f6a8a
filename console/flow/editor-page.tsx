import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTitle } from '../ui/page.tsx';
import { useNarrow } from '../ui/use-narrow.ts';
import { DraftNotes } from './editor/draft-notes.tsx';
import style from './editor/editor.module.css';
import { EditorBar } from './editor/editor-bar.tsx';
import { UndoDialog } from './editor/elsewhere-dialogs.tsx';
import { EmptyFlow } from './editor/empty-flow.tsx';
import { Side } from './editor/side.tsx';
import { OpenStep, useDraft, useFlow } from './flow-context.ts';
import { FlowGraph } from './graph/flow-graph.tsx';
import { PinnedStepsContext } from './graph/graph-props.ts';
import { useDraftEditing } from './graph/use-draft-editing.ts';
import { Inspector } from './inspector/inspector.tsx';
import { usePins } from './try/pins.ts';
import { TryPanel } from './try/try-panel.tsx';
import { useTryStatuses } from './try/use-try.ts';

/** Below the first width there is room for one panel beside the graph, below the second for none. */
const TWO_BESIDE = 1480;
const ONE_BESIDE = 1000;

/** The editor of a flow: the graph of its draft, the selected step, and a panel to try the draft. */
export function EditorPage() {
  useTitle(useFlow().flow.name);
  const { steps, problems, selectedId, select } = useDraft();
  const [announcement, announce] = useState('');
  const editing = useDraftEditing(announce);
  const statuses = useTryStatuses();
  const { pins } = usePins();
  const pinned = useMemo(() => new Set(Object.keys(pins)), [pins]);
  const [hasOneBeside, hasNoneBeside] = [useNarrow(TWO_BESIDE), useNarrow(ONE_BESIDE)];
  const { step: named } = useSearch({ strict: false }) as { step?: unknown };
  const [isStepOpen, openStep] = useState(named !== undefined);
  const { isTrying, setTrying } = useTrying();
  useUndoKeys();

  const open = useCallback(
    (stepId: string | undefined) => {
      if (stepId !== undefined) select(stepId);
      if (hasOneBeside) setTrying(false);
      openStep(true);
    },
    [select, hasOneBeside, setTrying],
  );
  const shown = isTrying || hasOneBeside ? statuses : undefined;
  // Typing does not wait until a large graph is drawn.
  const graph = useDeferredValue(
    useMemo(() => ({ steps, problems, statuses: shown, selectedId }), [steps, problems, shown, selectedId]),
  );

  const hadSteps = useRef(false);
  useEffect(() => {
    hadSteps.current = graph.steps.length > 0;
  });

  return (
    <div className={style.editor}>
      <div className={style.room}>
        <EditorBar
          isTrying={isTrying}
          onTry={() => setTrying(!isTrying)}
          onDetails={hasNoneBeside ? () => open(undefined) : undefined}
          onOpen={open}
        />
        <div className={style.notes}>
          <DraftNotes />
          <UndoDialog />
        </div>
        <div className={style.graph}>
          <PinnedStepsContext value={pinned}>
            <FlowGraph {...graph} onSelect={select} onOpen={open} editing={editing} />
          </PinnedStepsContext>
          {graph.steps.length === 0 && <EmptyFlow editing={editing} hadSteps={hadSteps.current} />}
        </div>
        <Side
          label="Details"
          isOpen={hasNoneBeside ? isStepOpen && !isTrying : !hasOneBeside || !isTrying}
          onClose={hasNoneBeside ? () => openStep(false) : undefined}
        >
          <Inspector />
        </Side>
        <Side label="Try it" isOpen={isTrying} onClose={() => setTrying(false)}>
          <OpenStep value={open}>
            <TryPanel />
          </OpenStep>
        </Side>
      </div>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}

/** Reads and changes whether the try panel is open, which is a search parameter. */
function useTrying() {
  const navigate = useNavigate();
  const { try: trying } = useSearch({ strict: false }) as { try?: unknown };
  const isTrying = Boolean(trying);
  const setTrying = useCallback(
    (next: boolean) => {
      if (next !== isTrying)
        void navigate({
          to: '.',
          search: ((search: object) => ({ ...search, try: next || undefined })) as never,
          replace: true,
        });
    },
    [navigate, isTrying],
  );
  return { isTrying, setTrying };
}

/** Handles the undo and redo keys outside text fields, which have their own. */
function useUndoKeys(): void {
  const { undo, redo } = useDraft();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isField(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === 'z' && !event.shiftKey) undo();
      else if (key === 'y' || (key === 'z' && event.shiftKey)) redo();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [undo, redo]);
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'))
  );
}

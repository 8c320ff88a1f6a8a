import { Redo2, Undo2 } from 'lucide-react';
import { IconButton } from '../ui/icon-button.tsx';
import { useDraft } from './draft/draft-context.ts';
import style from './editor-page.module.css';
import { FlowGraph } from './graph/flow-graph.tsx';
import { Inspector } from './inspector/inspector.tsx';
import { TryPanel } from './try/try-panel.tsx';

/** The draft of a flow: its graph, the selected step, and a place to try it. */
export function EditorPage() {
  const { steps, selectedId, select, saveState, undo, redo, canUndo, canRedo } = useDraft();
  return (
    <div className={style.editor}>
      <div className={style.bar}>
        <IconButton label="Undo" isDisabled={!canUndo} onPress={undo}>
          <Undo2 size={16} />
        </IconButton>
        <IconButton label="Redo" isDisabled={!canRedo} onPress={redo}>
          <Redo2 size={16} />
        </IconButton>
        <span>{saveState}</span>
      </div>
      <div className={style.graph}>
        <FlowGraph steps={steps} selectedId={selectedId} onSelect={select} />
      </div>
      <aside className={style.inspector} aria-label="Step">
        <Inspector />
      </aside>
      <section className={style.try} aria-label="Try it">
        <TryPanel />
      </section>
    </div>
  );
}

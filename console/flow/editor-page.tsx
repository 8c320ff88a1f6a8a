import { useState } from 'react';
import { useDraft } from './draft/draft-context.ts';
import { EditorBar } from './editor-bar.tsx';
import style from './editor-page.module.css';
import { FlowGraph } from './graph/flow-graph.tsx';
import { useDraftEditing } from './graph/use-draft-editing.ts';
import { Inspector } from './inspector/inspector.tsx';
import { TryPanel } from './try/try-panel.tsx';

/** The draft of a flow: its graph, the selected step, and a place to try it. */
export function EditorPage() {
  const { steps, problems, selectedId, select } = useDraft();
  const [said, say] = useState('');
  const editing = useDraftEditing(say);
  return (
    <div className={style.editor}>
      <EditorBar />
      <div className={style.graph}>
        <FlowGraph
          steps={steps}
          problems={problems}
          selectedId={selectedId}
          onSelect={select}
          editing={editing}
        />
      </div>
      <aside className={style.inspector} aria-label="Step">
        <Inspector />
      </aside>
      <section className={style.try} aria-label="Try it">
        <TryPanel />
      </section>
      <p className="visually-hidden" role="status">
        {said}
      </p>
    </div>
  );
}

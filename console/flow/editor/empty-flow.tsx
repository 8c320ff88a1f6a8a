import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { GraphEditing } from '../graph/graph-props.ts';
import style from './editor.module.css';

const FIRST = { parent: null, index: 0 };

type Props = {
  editing: GraphEditing;
  /** Whether the last step was just deleted, maybe with the focus on it. */
  hadSteps: boolean;
};

/** Says how to begin, over the graph of a flow without steps. */
export function EmptyFlow({ editing, hadSteps }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [takesFocus] = useState(hadSteps);
  useEffect(() => {
    const [shown, graph] = [box.current, box.current?.parentElement];
    if (takesFocus) focusUnlessElsewhere(() => shown?.querySelector('button'));
    return () => focusUnlessElsewhere(() => graph?.querySelector<HTMLElement>('[data-step]'));
  }, [takesFocus]);
  return (
    <div ref={box} className={style.empty}>
      <div>
        <EmptyState
          title="No steps yet"
          text="This flow returns its message as it is. Add a first step, or paste steps as JSON or YAML."
        >
          <Button variant="primary" onPress={() => editing.insert('llm', FIRST)}>
            Model call
          </Button>
          <Button onPress={() => editing.insert('code', FIRST)}>Run code</Button>
          <Button
            onPress={() =>
              navigator.clipboard.readText().then(
                (text) => editing.paste(text, undefined),
                () =>
                  showToast({
                    tone: 'bad',
                    title:
                      'The browser does not let this page read the clipboard. Allow it, or add a step first.',
                  }),
              )
            }
          >
            Paste steps
          </Button>
        </EmptyState>
      </div>
    </div>
  );
}

/** Focuses an element unless something else has the focus, after a closing menu has restored the focus. */
function focusUnlessElsewhere(find: () => HTMLElement | null | undefined): void {
  const focus = () => {
    if (document.activeElement === document.body) find()?.focus({ preventScroll: true });
  };
  requestAnimationFrame(() => requestAnimationFrame(focus));
}

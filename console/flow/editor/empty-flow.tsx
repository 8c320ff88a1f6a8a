import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { showToast } from '../../ui/toast.tsx';
import type { GraphEditing } from '../graph/graph-editing.ts';
import style from './editor.module.css';

const FIRST = { parent: null, index: 0 };

/** Says over the graph of a flow without steps how to begin. */
export function EmptyFlow({ editing }: { editing: GraphEditing }) {
  return (
    <div className={style.empty}>
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

import { JsonView } from '../../ui/json-view.tsx';
import { Note } from '../../ui/note.tsx';
import type { Run, RunPath } from '../run-path.ts';
import style from './detail.module.css';

type Paused = Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;

/** Tells for what a run waits: the results of tool calls, or its caller's next step. */
export function PausedDetail({ run }: { run: Paused; path: RunPath }) {
  const calls = run.toolCalls ?? [];
  if (calls.length === 0)
    return (
      <Note>
        This session waits for its caller to send the next step. It stays as it is until then, or until it is
        cancelled.
      </Note>
    );
  return (
    <section className={style.value}>
      <h2>Waiting for tool calls</h2>
      <p>
        The model of <code>{run.pausedAtStep}</code> asks for{' '}
        {calls.length === 1 ? 'a result' : `${calls.length} results`}. Its caller runs the functions and sends
        the results back.
      </p>
      {calls.map((call) => (
        <section key={call.id} className={style.value}>
          <h3>
            <code>{call.function.name}</code>
          </h3>
          <JsonView value={parsed(call.function.arguments)} label={`Arguments of ${call.function.name}`} />
        </section>
      ))}
    </section>
  );
}

/** Arguments are the model's text: mostly JSON, and shown as it is where they are not. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

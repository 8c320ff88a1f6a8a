import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Form } from 'react-aria-components';
import type { Schemas } from '../../api/client.ts';
import type { Step } from '../../flow/draft/steps.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useReturnFocus } from '../../ui/use-return-focus.ts';
import type { Run, RunPath } from '../run-path.ts';
import { runRequestQuery } from '../use-run-request.ts';
import style from './detail.module.css';
import { sendingKey, sendToolResults } from './send-tool-results.ts';
import type { TypedResults } from './use-typed-results.ts';

type AnswerToolsProps = {
  run: Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;
  calls: Schemas['ToolCallOutput'][];
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  typed: TypedResults;
};

/** A form for the results of the pending tool calls. Each result is the text that the model gets. */
export function AnswerTools({ run, calls, path, projectId, steps, typed }: AnswerToolsProps) {
  const client = useQueryClient();
  // The form disappears when the run continues.
  useReturnFocus();
  const textOf = ({ id }: { id: string }) => typed.results[id]?.text ?? '';
  const send = useMutation({
    mutationKey: sendingKey(path),
    mutationFn: async () => {
      const request = await client.fetchQuery(runRequestQuery(path, true));
      const results = Object.fromEntries(calls.map((call) => [call.id, textOf(call)]));
      await sendToolResults({ run, path, projectId, steps, request, results });
    },
    onSuccess() {
      typed.drop(calls.map(({ id }) => id));
      showToast({ tone: 'good', title: 'The results were sent.' });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['run', path] }),
    meta: { quiet: true },
  });
  return (
    <Form
      className={style.answers as string}
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      {calls.map((call) => (
        <section key={call.id} className={style.value} aria-label={`Call of ${call.function.name}`}>
          <h3>
            <code>{call.function.name}</code>
          </h3>
          <JsonView value={parsed(call.function.arguments)} label={`Arguments of ${call.function.name}`} />
          <TextField
            label="Result"
            rows={3}
            isMono
            value={textOf(call)}
            onChange={(text) => typed.type(call.id, { name: call.function.name, text })}
            help="Text or JSON, as the function would answer."
          />
        </section>
      ))}
      {send.error && <ErrorNote error={send.error} />}
      <div>
        <Button type="submit" variant="primary" isPending={send.isPending}>
          {send.isPending ? 'Sending …' : calls.length === 1 ? 'Send the result' : 'Send the results'}
        </Button>
      </div>
    </Form>
  );
}

/** Parses the arguments, which are the model's text; text that is not JSON is shown unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { Row } from '../../ui/page.tsx';
import { useReturnFocus } from '../../ui/use-return-focus.ts';
import style from './tool-calls-form.module.css';

type ToolCall = { id: string; function: { name: string; arguments: string } };
type Result = { tool_call_id: string; content: string };

const RESULT_MAX_BYTES = 256 * 1024;

/** Asks for the results of tool calls: text, JSON or an error message, which the model reads. */
export function ToolCallsForm({
  calls,
  isBusy,
  texts,
  onType,
  onAnswer,
}: {
  calls: ToolCall[];
  isBusy: boolean;
  /** Typed texts, by tool call id. */
  texts: Record<string, string>;
  onType: (callId: string, text: string) => void;
  onAnswer: (results: Result[]) => void;
}) {
  const [isSent, setSent] = useState(false);
  // The form disappears when the run continues.
  useReturnFocus();
  const results = calls.map(({ id }) => ({ tool_call_id: id, content: texts[id] ?? '' }));
  const errorOf = ({ content }: Result) =>
    new TextEncoder().encode(content).length > RESULT_MAX_BYTES ? 'A result has at most 256 KB.' : undefined;

  return (
    <form
      className={style.form}
      onSubmit={(event) => {
        event.preventDefault();
        setSent(true);
        if (!results.some(errorOf)) onAnswer(results);
      }}
    >
      {calls.map((call, index) => {
        const { id } = call;
        const result = results[index] as Result;
        const name =
          calls.length > 1 ? `${call.function.name} (${index + 1} of ${calls.length})` : call.function.name;
        return (
          <fieldset key={id} className={style.call}>
            <legend>
              <code>{name}</code>
            </legend>
            <CodeBlock label={`arguments of ${name}`} text={indented(call.function.arguments)} isWrapped />
            <TextField
              label={`Result of ${name}`}
              rows={3}
              isMono
              value={result.content}
              onChange={(text) => onType(id, text)}
              error={isSent ? errorOf(result) : undefined}
              help="Text or JSON, as the model will read it. An empty result is sent as it is."
            />
            <Row>
              <Button
                size="small"
                variant="quiet"
                onPress={() => onType(id, '{"error": "The function is not available."}')}
              >
                Answer with an error
              </Button>
            </Row>
          </fieldset>
        );
      })}
      <Row>
        <Button type="submit" variant="primary" isPending={isBusy}>
          Send {calls.length > 1 ? `${calls.length} results` : 'the result'} and continue
        </Button>
      </Row>
    </form>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

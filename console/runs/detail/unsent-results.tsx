import { useIsMutating } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Note } from '../../ui/note.tsx';
import { Row } from '../../ui/page.tsx';
import type { Run, RunPath } from '../run-path.ts';
import { sendingKey } from './send-tool-results.ts';
import type { TypedResults } from './use-typed-results.ts';

type UnsentResultsProps = { run: Run; path: RunPath; typed: TypedResults };

/** Shows typed results that the run no longer waits for, so that they are not lost. */
export function UnsentResults({ run, path, typed }: UnsentResultsProps) {
  const isSending = useIsMutating({ mutationKey: sendingKey(path) }) > 0;
  const calls = 'toolCalls' in run ? (run.toolCalls ?? []) : [];
  const unsent = Object.entries(typed.results).filter(
    ([callId, { text }]) => text !== '' && !calls.some(({ id }) => id === callId),
  );
  if (isSending || unsent.length === 0) return null;
  return (
    <div role="alert">
      <Note tone="warn">
        <p>
          <strong>The run no longer waits for what you typed here</strong>: it was resumed from elsewhere, or
          has ended. Your text is kept until you leave this page.
        </p>
        {unsent.map(([callId, { name, text }]) => (
          <div key={callId}>
            <p>
              For <code>{name}</code>:
            </p>
            <CodeBlock label={`what you typed for ${name}`} text={text} isWrapped />
          </div>
        ))}
        <Row>
          <Button size="small" onPress={() => typed.drop(unsent.map(([callId]) => callId))}>
            Drop it
          </Button>
        </Row>
      </Note>
    </div>
  );
}

import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import { toApiError } from '../../api/api-error.ts';
import { authorizedFetch } from '../../api/authorized-fetch.ts';
import type { Schemas } from '../../api/client.ts';
import { findStep, type Step } from '../../flow/draft/steps.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNote, Note } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/fields/text-field.tsx';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Row } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useReturnFocus } from '../../ui/use-return-focus.ts';
import type { Run, RunPath } from '../run.ts';
import { startPath } from '../run-curl.ts';
import { topStepIndex } from '../trace/executions.ts';
import style from './detail.module.css';
import { runRequestQuery } from './run-request.tsx';

/** `/execute` sends nothing until the run has ended or paused again. */
const RUN_TIMEOUT_MS = 3_600_000;

/** The key of the mutation that resumes a run; it may outlive its form. */
const sendingKey = (path: RunPath) => ['send tool results', path];

type Paused = Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;

type ToolResults = {
  run: Paused;
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  /** The request that started the run: its tools are sent again. */
  request: Schemas['RunRequest'];
  /** By tool call id. */
  results: Record<string, string>;
};

type Typed = { name: string; text: string };

/** Typed tool results that were not sent, by tool call id, with the name of the function. */
export type TypedResults = {
  results: Record<string, Typed>;
  type: (callId: string, typed: Typed) => void;
  drop: (callIds: string[]) => void;
};

type UnsentResultsProps = { run: Run; path: RunPath; typed: TypedResults };

type AnswerToolsProps = {
  run: Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;
  calls: Schemas['ToolCall'][];
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  typed: TypedResults;
};

type PausedDetailProps = {
  run: Extract<Run, { status: 'tool_calls_required' | 'in_progress' }>;
  path: RunPath;
  projectId: string;
  steps: Step[] | undefined;
  typed: TypedResults;
};

/** Says what a paused run waits for: tool results, which can be given here, or its caller's next step. */
export function PausedDetail({ run, path, projectId, steps, typed }: PausedDetailProps) {
  const calls = run.toolCalls ?? [];
  if (calls.length === 0)
    return <Note>This session waits for its caller to send the next step, or until it is cancelled.</Note>;
  return (
    <section className={style.value}>
      <h2>Waiting for tool calls</h2>
      <p>
        <strong title={run.pausedAtStep}>
          {(steps && findStep(steps, run.pausedAtStep)?.step.name) ?? run.pausedAtStep}
        </strong>{' '}
        asks for {calls.length === 1 ? 'a result' : `${calls.length} results`} (round {run.iterationsUsed} of
        this block). The caller of the run sends {calls.length === 1 ? 'it' : 'them'}, or you in place of the
        caller.
      </p>
      <AnswerTools
        key={calls[0]?.id}
        run={run}
        calls={calls}
        path={path}
        projectId={projectId}
        steps={steps}
        typed={typed}
      />
    </section>
  );
}

/** A form for the results of the pending tool calls. Each result is the text that the model gets. */
function AnswerTools({ run, calls, path, projectId, steps, typed }: AnswerToolsProps) {
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

/** Keeps typed tool results while the page of the run is open. */
export function useTypedResults(executionId: string): TypedResults {
  const [typed, setTyped] = useState<Record<string, Record<string, Typed>>>({});
  const change = (edit: (results: Record<string, Typed>) => Record<string, Typed>) =>
    setTyped((all) => ({ ...all, [executionId]: edit(all[executionId] ?? {}) }));
  return {
    results: typed[executionId] ?? {},
    type: (callId, result) => change((results) => ({ ...results, [callId]: result })),
    drop: (callIds) =>
      change((results) =>
        Object.fromEntries(Object.entries(results).filter(([callId]) => !callIds.includes(callId))),
      ),
  };
}

/**
 * Resumes a run with the results of its pending tool calls. Resolves when the run has ended or paused again; for a
 * session, when they are accepted.
 */
async function sendToolResults(answer: ToolResults): Promise<void> {
  const { run, path, projectId } = answer;
  const endpoint = run.mode === 'step' ? 'step' : 'execute';
  const url = startPath({ ...path, version: run.version, projectId, flowId: run.flowId }, endpoint);
  const stop = new AbortController();
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: stop.signal };
  const request = new Request(new URL(url, location.origin), {
    ...init,
    body: JSON.stringify(resumeBody(answer)),
  });
  const response = await authorizedFetch(request, RUN_TIMEOUT_MS);
  if (!response.ok) throw await toApiError(response);
  // A session answers with a stream of events, which the page of the run follows anyway.
  stop.abort();
}

/**
 * Builds the request that resumes a paused run. It sends no tool choice: a model that must call a function would never
 * end.
 */
function resumeBody({ run, steps, request, results }: Omit<ToolResults, 'path' | 'projectId'>): object {
  const {
    executionId,
    pausedAtStep = '',
    iterationsUsed,
    toolCallMessages = [],
    accumulatedOutputs,
    resumeState,
  } = run;
  const answers = (run.toolCalls ?? []).map(({ id }) => ({
    role: 'tool',
    tool_call_id: id,
    content: results[id] ?? '',
  }));
  return {
    executionId,
    ...(run.mode === 'step' ? { stepIndex: steps && topStepIndex(steps, pausedAtStep) } : { pausedAtStep }),
    iterationsUsed,
    toolCallMessages: [...toolCallMessages, ...answers],
    accumulatedOutputs,
    resumeState,
    ...(request.tools?.length && { tools: request.tools }),
  };
}

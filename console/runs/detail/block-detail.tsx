import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { api, type Schemas } from '../../api/client.ts';
import { KIND_NAMES } from '../../flow/draft/field-names.ts';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx';
import { Note, QueryView } from '../../ui/feedback.tsx';
import { formatBytes, formatCount, formatCredits, formatDuration, formatTokens } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Fact, Facts, Stack } from '../../ui/page.tsx';
import { Elapsed, Time } from '../../ui/time.tsx';
import { type RunPath, runUrl } from '../run.ts';
import type { Execution } from '../trace/spans.ts';
import { Attempts } from './attempts.tsx';
import { CodeLogs } from './code-logs.tsx';
import style from './detail.module.css';
import { LastAnswerView } from './last-answer.tsx';
import { ValueView } from './value-view.tsx';

const NO_OUTPUT: Record<string, string> = {
  failed: 'It failed, and has no output.',
  cancelled: 'It was cancelled, and has no output.',
};

type Message = { role: string; content?: unknown; tool_calls?: unknown };

type Props = {
  path: RunPath;
  execution: Execution;
  /** The executions of the same block, in the order in which they started. */
  siblings: Execution[];
  runStartedAt: string;
  onSelect: (execution: Execution) => void;
};

/** One block execution: its input, request, output and costs. */
export function BlockDetail({ path, execution, siblings, runStartedAt, onSelect }: Props) {
  const at = siblings.indexOf(execution);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  return (
    <Stack>
      <div className={style.head}>
        <h2 className={style.title}>{execution.name}</h2>
        <StatusBadge status={execution.status} />
        <Badge>{KIND_NAMES[execution.processor_type]}</Badge>
        {'pinned' in execution && execution.pinned && <Badge>Pinned output</Badge>}
        {siblings.length > 1 && (
          <span className={style.pager}>
            <IconButton
              label="Execution before"
              size="small"
              isDisabled={!before}
              onPress={() => before && onSelect(before)}
            >
              <ChevronLeft size={14} />
            </IconButton>
            {formatCount(at + 1)} of {formatCount(siblings.length)}
            <IconButton
              label="Next execution"
              size="small"
              isDisabled={!after}
              onPress={() => after && onSelect(after)}
            >
              <ChevronRight size={14} />
            </IconButton>
          </span>
        )}
      </div>
      <p className={style.key}>
        <code>{execution.key}</code> <CopyButton text={execution.key} label="Copy the key" />{' '}
        <Link
          to="/orgs/$org/projects/$project/flows/$flow"
          params={path}
          search={{ step: execution.step_id } as never}
        >
          Open in the editor
        </Link>
      </p>
      {'callId' in execution ? (
        <Ended path={path} execution={execution} runStartedAt={runStartedAt} />
      ) : (
        <UnderWay block={execution} />
      )}
    </Stack>
  );
}

type EndedBlock = Extract<Execution, { callId: string }>;

function Ended({
  path,
  execution,
  runStartedAt,
}: {
  path: RunPath;
  execution: EndedBlock;
  runStartedAt: string;
}) {
  const { key, callId: call, usage, startedAt, finishedAt } = execution;
  const query = useQuery({
    queryKey: ['run-block', path, key, call],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/blocks/{key}', {
        params: { path: { ...path, key }, query: { call } },
        signal,
      });
      return data as NonNullable<typeof data>;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const url = runUrl(path, `/blocks/${encodeURIComponent(key)}`);
  const ofCall = `?call=${call}`;
  const startedAfter = Date.parse(startedAt) - Date.parse(runStartedAt);
  return (
    <>
      {execution.errorMessage && (
        <div className={style.failure} role="alert">
          {execution.code && <code>{execution.code}</code>}
          <p dir="auto">{execution.errorMessage}</p>
        </div>
      )}
      <Facts>
        <Fact name="Took">{formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}</Fact>
        <Fact name="Began">
          <span title={new Date(startedAt).toLocaleString()}>
            +{formatDuration(Math.max(0, startedAfter))}
          </span>
        </Fact>
        <Fact name="Attempts">{execution.attempts}</Fact>
        {execution.model && <Fact name="Model">{execution.model}</Fact>}
        {execution.model && <Fact name="Tokens">{formatTokens(usage)}</Fact>}
        <Fact name="Credits">{formatCredits(usage.cost)}</Fact>
        {usage.uncharged && <Fact name="Not charged">{formatCredits(usage.uncharged)}</Fact>}
      </Facts>
      <QueryView query={query}>
        {(block) => (
          <>
            {block.failedAttempts && (
              <section className={style.value}>
                <h3>Attempts</h3>
                <Attempts block={block} />
              </section>
            )}
            <ValueView
              label="Output"
              value={block.output}
              bytes={block.outputBytes}
              url={`${url}/output${ofCall}`}
              none={NO_OUTPUT[block.status] ?? 'It has no output yet.'}
            />
            {block.lastAnswer && <LastAnswerView answer={block.lastAnswer} />}
            {block.reasoning && (
              <section className={style.value}>
                <h3>Reasoning</h3>
                <CodeBlock text={block.reasoning} label="Reasoning" />
              </section>
            )}
            {block.logs && (
              <section className={style.value}>
                <h3>Console</h3>
                <CodeLogs logs={block.logs} />
              </section>
            )}
            <ValueView
              label="Input"
              value={block.input}
              bytes={block.inputBytes}
              url={`${url}/input${ofCall}`}
              none="It got no input."
            />
            {block.processor_type !== 'passthrough' && (
              <SentView block={block} url={`${url}/sent${ofCall}`} />
            )}
          </>
        )}
      </QueryView>
    </>
  );
}

/** A block execution that has not ended. */
function UnderWay({ block }: { block: Schemas['BlockUnderWay'] }) {
  return (
    <>
      <Facts>
        <Fact name="Running for">
          <Elapsed from={block.startedAt} />
        </Fact>
        <Fact name="Attempts">{block.attempts}</Fact>
        {block.nextAttemptAt && (
          <Fact name="Next attempt">
            <Time at={block.nextAttemptAt} />
          </Fact>
        )}
      </Facts>
      {block.errorMessage ? (
        <Note tone="warn">The provider refused the attempt before: {block.errorMessage}</Note>
      ) : (
        <Note>It is running. Its input and output appear here when it has ended.</Note>
      )}
    </>
  );
}

/** Shows a block's request: the messages to its model as a conversation, or its code. */
function SentView({ block, url }: { block: Schemas['BlockDetail']; url: string }) {
  const { sent, sentBytes: bytes } = block;
  const messages = messagesOf(sent);
  if (block.processor_type === 'code' && typeof sent === 'string')
    return (
      <section className={style.value}>
        <h3>
          Code <span className={style.faint}>{formatBytes(bytes)}</span>
        </h3>
        <CodeBlock text={sent} label="Code" />
      </section>
    );
  if (!messages)
    return (
      <ValueView
        label={block.processor_type === 'code' ? 'Code' : 'Sent'}
        value={sent}
        bytes={bytes}
        url={url}
        none="Nothing was sent."
      />
    );
  const { messages: _, ...rest } = sent as Record<string, unknown>;
  return (
    <section className={style.value}>
      <h3>
        Sent to the model <span className={style.faint}>{formatBytes(bytes)}</span>
      </h3>
      <ol className={style.messages}>
        {messages.map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages do not move
          <li key={index}>
            <span className={style.role}>{message.role}</span>
            {message.content != null && message.content !== '' && (
              <JsonView value={message.content} label={`Message ${index + 1}, ${message.role}`} />
            )}
            {message.tool_calls !== undefined && (
              <JsonView value={message.tool_calls} label={`Tool calls of message ${index + 1}`} />
            )}
          </li>
        ))}
      </ol>
      {Object.keys(rest).length > 1 && <JsonView value={rest} label="Further settings sent" />}
    </section>
  );
}

function messagesOf(sent: unknown): Message[] | undefined {
  const messages = (sent as { messages?: unknown } | null | undefined)?.messages;
  return Array.isArray(messages) && messages.every((message) => typeof message?.role === 'string')
    ? messages
    : undefined;
}

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { api } from '../../api/client.ts';
import { Badge } from '../../ui/badge.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatCount, formatCredits, formatDuration } from '../../ui/format.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { Stack } from '../../ui/page.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Fact, Facts } from '../../ui/table.tsx';
import { type RunPath, runUrl } from '../run-path.ts';
import type { Execution } from '../trace/spans.ts';
import style from './detail.module.css';
import { SentView } from './sent-view.tsx';
import { UnderWay } from './under-way.tsx';
import { ValueView } from './value-view.tsx';

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
        <Badge>{execution.processor_type}</Badge>
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
        {execution.model && (
          <Fact name="Tokens">
            {formatCount(usage.promptTokens)} in, {formatCount(usage.completionTokens)} out
          </Fact>
        )}
        <Fact name="Credits">{formatCredits(usage.cost)}</Fact>
      </Facts>
      <QueryView query={query}>
        {(block) => (
          <>
            <ValueView
              label="Output"
              value={block.output}
              bytes={block.outputBytes}
              url={`${url}/output${ofCall}`}
              none={block.status === 'failed' ? 'It failed, and has no output.' : 'It has no output yet.'}
            />
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

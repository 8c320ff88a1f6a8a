import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { $api } from '../../api/client.ts';
import { StatusBadge } from '../../ui/badge.tsx';
import { QueryView } from '../../ui/feedback.tsx';
import { formatBytes, formatCount, formatCredits, formatDuration } from '../../ui/format.ts';
import { JsonView } from '../../ui/json/json-view.tsx';
import { useDraft, useFlow, useOpenStep } from '../flow-context.ts';
import style from './try-panel.module.css';
import type { TryBlock, TryRun } from './try-run.ts';

const SHOWN_MAX = 100;

/** The blocks of a run in the order in which they started. Each opens to show its input and output. */
export function BlockList({ run }: { run: TryRun }) {
  const { blocks, executionId } = run;
  if (blocks.length === 0) return null;
  return (
    <ul className={style.blocks} aria-label="Blocks">
      {blocks.slice(0, SHOWN_MAX).map((block) => (
        <BlockItem key={block.key} block={block} executionId={executionId} />
      ))}
      {blocks.length > SHOWN_MAX && (
        <li className={style.faint}>
          and {formatCount(blocks.length - SHOWN_MAX)} more block executions: open the run to see them all.
        </li>
      )}
    </ul>
  );
}

function BlockItem({ block, executionId }: { block: TryBlock; executionId: string | undefined }) {
  const { selectedId } = useDraft();
  const open = useOpenStep();
  const [isOpen, setOpen] = useState(false);
  const { key, name, status, usage, attempts, message, model } = block;
  const tokens = (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0);
  const hasEnded = status !== 'running' && status !== 'retrying';
  return (
    <li data-selected={selectedId === block.stepId || undefined}>
      <div className={style.block}>
        <button
          type="button"
          className={style.open}
          aria-expanded={isOpen}
          aria-label={`Input and output of ${key}`}
          disabled={!hasEnded}
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight size={14} aria-hidden className={isOpen ? style.turned : undefined} />
        </button>
        <button type="button" className={style.link} onClick={() => open(block.stepId)}>
          <bdi>{name}</bdi>
          {key !== block.stepId && <span className={style.faint}> {key.slice(block.stepId.length)}</span>}
        </button>
        <StatusBadge status={status} />
        <span className={style.numbers}>
          {model && <span>{model}</span>}
          {attempts !== undefined && attempts > 1 && <span>{attempts} attempts</span>}
          {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
          {usage && usage.cost > 0 && <span>{formatCredits(usage.cost)} cr</span>}
          {usage && <span>{formatDuration(usage.ms)}</span>}
        </span>
      </div>
      {message && status !== 'completed' && <p className={style.blockMessage}>{message}</p>}
      {isOpen && hasEnded && executionId && <BlockValues executionId={executionId} blockKey={key} />}
    </li>
  );
}

/** The input, request and output of one block. Values over 16 KiB are only on the page of the run. */
function BlockValues({ executionId, blockKey }: { executionId: string; blockKey: string }) {
  const { flow, org, project } = useFlow();
  const query = $api.useQuery(
    'get',
    '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/blocks/{key}',
    { params: { path: { org, project, flow: flow.slug, executionId, key: blockKey } } },
    { staleTime: 0 },
  );
  return (
    <div className={style.values}>
      <QueryView query={query}>
        {({ input, sent, output, inputBytes, sentBytes, outputBytes }) => (
          <>
            <Value label="Input" value={input} bytes={inputBytes} />
            <Value label="Sent" value={sent} bytes={sentBytes} />
            <Value label="Output" value={output} bytes={outputBytes} />
          </>
        )}
      </QueryView>
    </div>
  );
}

function Value({ label, value, bytes }: { label: string; value: unknown; bytes: number }) {
  if (bytes === 0) return null;
  const isOmitted = value === null && bytes > 'null'.length;
  return (
    <div>
      <h4>{label}</h4>
      {isOmitted ? (
        <p className={style.faint}>{formatBytes(bytes)}: open the run to read it.</p>
      ) : (
        <JsonView value={value} label={label} />
      )}
    </div>
  );
}

import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Badge, StatusBadge } from '../../ui/badge.tsx';
import { formatCount, formatCredits, formatDuration } from '../../ui/format.ts';
import { Elapsed } from '../../ui/time.tsx';
import { useDraft, useOpenStep } from '../flow-context.ts';
import { BlockValues } from './block-values.tsx';
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
  const { key, name, status, since, usage, attempts, message, model, pinned } = block;
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
          {pinned && <Badge>Pinned</Badge>}
          {model && <span>{model}</span>}
          {attempts !== undefined && attempts > 1 && <span>{attempts} attempts</span>}
          {tokens > 0 && <span>{formatCount(tokens)} tokens</span>}
          {usage && usage.cost > 0 && <span>{formatCredits(usage.cost)} cr</span>}
          {usage && <span>{formatDuration(usage.ms)}</span>}
          {!hasEnded && since && (
            <span>
              <Elapsed from={since} />
            </span>
          )}
        </span>
      </div>
      {message && status !== 'completed' && <p className={style.blockMessage}>{message}</p>}
      {isOpen && hasEnded && executionId && <BlockValues executionId={executionId} blockKey={key} />}
    </li>
  );
}

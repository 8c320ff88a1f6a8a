import type { UseQueryResult } from '@tanstack/react-query';
import { ChartGantt, Workflow } from 'lucide-react';
import { useMemo } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import type { Step } from '../../flow/draft/steps.ts';
import { FlowGraph } from '../../flow/graph/flow-graph.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, Loading } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import type { MoreBlocks } from '../run-summary.tsx';
import { type Execution, pathToSpan, type Span, stepStatuses } from './spans.ts';
import style from './trace-panel.module.css';
import { Waterfall } from './waterfall.tsx';

type Props = {
  root: Span;
  steps: Step[] | undefined;
  treeError: Error | null;
  blocks: UseQueryResult<{ blocks: unknown[]; hasMore: boolean }, Error>;
  chosen: Execution | undefined;
  isGraph: boolean;
  onView: (isGraph: boolean) => void;
  onChoose: (execution: Execution | undefined) => void;
  /** Called when the reader opens what was chosen. */
  onOpen: () => void;
  more: MoreBlocks | undefined;
};

/** The blocks of a run: over time, or on the graph of the flow. */
export function TracePanel({
  root,
  steps,
  treeError,
  blocks,
  chosen,
  isGraph,
  onView,
  onChoose,
  onOpen,
  more,
}: Props) {
  const statuses = useMemo(() => stepStatuses(root), [root]);
  const selected = chosen && pathToSpan(root, ({ execution }) => execution === chosen)?.at(-1);
  function chooseStep(stepId: string | undefined) {
    const of = pathToSpan(root, ({ execution }) => execution !== undefined && execution.step_id === stepId);
    onChoose(of?.at(-1)?.execution);
    if (stepId !== undefined) onOpen();
  }
  return (
    <section className={style.panel} aria-label="Blocks">
      <div className={style.bar}>
        <ToggleButtonGroup
          aria-label="Show the blocks"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[isGraph ? 'graph' : 'time']}
          onSelectionChange={(keys) => onView(keys.has('graph'))}
          className={style.choice as string}
        >
          <ToggleButton id="time" className={style.option as string}>
            <ChartGantt size={13} aria-hidden /> Over time
          </ToggleButton>
          <ToggleButton id="graph" className={style.option as string}>
            <Workflow size={13} aria-hidden /> On the graph
          </ToggleButton>
        </ToggleButtonGroup>
        <span className={style.count}>
          {formatCount(root.count)}
          {blocks.data?.hasMore && '+'} {root.count === 1 ? 'block' : 'blocks'}
        </span>
      </div>
      {blocks.error && <ErrorNote error={blocks.error} onRetry={() => void blocks.refetch()} />}
      {isGraph ? (
        <div className={style.graph}>
          {treeError ? (
            <ErrorNote error={treeError} />
          ) : steps ? (
            <FlowGraph
              steps={steps}
              label="The flow that ran"
              statuses={statuses}
              selectedId={chosen?.step_id}
              onSelect={chooseStep}
            />
          ) : (
            <Loading label="Loading the graph …" />
          )}
        </div>
      ) : blocks.isPending ? (
        <Loading label="Loading the blocks …" />
      ) : (
        <Waterfall
          root={root}
          selectedId={(selected ?? root).id}
          onSelect={(span) => onChoose(span.execution)}
          onOpen={onOpen}
        />
      )}
      {more && (
        <div className={style.more}>
          The first {formatCount(root.count)} block executions are shown.{' '}
          <Button size="small" isPending={more.isLoading} onPress={more.loadMore}>
            Show more
          </Button>
        </div>
      )}
    </section>
  );
}

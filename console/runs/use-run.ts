import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { $api, api, type Schemas } from '../api/client.ts';
import { followStream } from '../api/follow-stream.ts';
import { refetchAfter } from '../api/query-options.ts';
import { toSteps } from '../flow/draft/steps.ts';
import { type Run, type RunPath, runUrl } from './run.ts';
import { type Kept, keepUnderWay, listExecutions, type UnderWay } from './trace/executions.ts';

const CHANGE_INTERVAL_MS = 700;

const POLL_MS = 4_000;
const PAGE = 200;
const BLOCKS_MAX = 2_000;
const TICK_MS = 500;

/** Queries a run, its block executions and its tree of steps, and keeps them up to date while it is running. */
export function useRun(path: RunPath) {
  const client = useQueryClient();
  const [blocksMax, setBlocksMax] = useState(BLOCKS_MAX);
  const run = useQuery({
    queryKey: ['run', path],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET('/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}', {
        params: { path, query: { receipt: false } },
        signal,
      });
      return data as Run;
    },
    refetchInterval: (query) => refetchAfter(query, isOver(query.state.data) ? false : POLL_MS),
    // The result may have many megabytes, too much to compare.
    structuralSharing: false,
  });
  const isRunning = run.data?.status === 'started';
  const blocks = useQuery({
    queryKey: ['run-blocks', path, blocksMax],
    queryFn: ({ signal }) => fetchBlocks(path, blocksMax, signal),
    // The previous data is shown while more blocks of the same run are fetched.
    placeholderData: (previous, query) =>
      (query?.queryKey[1] as RunPath | undefined)?.executionId === path.executionId ? previous : undefined,
    refetchInterval: (query) => refetchAfter(query, isOver(run.data) ? false : POLL_MS),
  });
  const tree = $api.useQuery(
    'get',
    '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/flow',
    { params: { path } },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  useRunEvents(path, isRunning, () => {
    // Events may arrive faster than the blocks of a long run can be fetched, so a fetch in flight continues.
    void client.invalidateQueries({ queryKey: ['run', path] }, { cancelRefetch: false });
    void client.invalidateQueries({ queryKey: ['run-blocks', path] }, { cancelRefetch: false });
  });
  const now = useNow(isRunning);
  const { status, finishedAt } = run.data ?? {};
  // A run that ended or paused has new block executions.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state of the run is what counts
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['run-blocks', path] });
  }, [status, finishedAt]);

  const ended = blocks.data?.blocks ?? [];
  const underWay = useUnderWay(path, run, blocks.data?.fetchedAt ?? 0);
  return {
    run,
    blocks,
    executions: listExecutions(ended, underWay),
    steps: tree.data && toSteps(tree.data.steps),
    treeError: tree.error,
    now,
    /** Set when there are more block executions. `loadMore` loads twice as many. */
    more: blocks.data?.hasMore
      ? {
          shown: ended.length,
          isLoading: blocks.isPlaceholderData,
          loadMore: () => setBlocksMax(blocksMax * 2),
        }
      : undefined,
  };
}

function isOver(run: Run | undefined): boolean {
  return run?.status === 'completed' || run?.status === 'failed';
}

async function fetchBlocks(path: RunPath, max: number, signal: AbortSignal) {
  const fetchedAt = Date.now();
  const blocks: Schemas['TracedBlock'][] = [];
  const notes = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const { data }: { data?: Schemas['TracedBlocks'] } = await api.GET(
      '/api/v1/seq/{org}/{project}/{flow}/jobs/{executionId}/blocks',
      { params: { path, query: { limit: PAGE, ...(cursor ? { cursor } : {}) } }, signal },
    );
    blocks.push(...(data?.blocks ?? []));
    for (const note of data?.notes ?? []) notes.add(note);
    cursor = data?.nextCursor;
  } while (cursor && blocks.length < max);
  return { blocks, notes: [...notes], hasMore: Boolean(cursor), fetchedAt };
}

/** Returns the block executions under way, and ended block executions not yet in the list. */
function useUnderWay(
  { executionId }: RunPath,
  { data, dataUpdatedAt: at }: { data: Run | undefined; dataUpdatedAt: number },
  fetchedAt: number,
): UnderWay[] {
  const [seen, setSeen] = useState<{ executionId: string; at: number; kept: Kept[] }>();
  const before = seen?.executionId === executionId ? seen : undefined;
  let kept = before?.kept ?? [];
  if (data && before?.at !== at) {
    kept = keepUnderWay(kept, data.status === 'started' ? data.blocksUnderWay : [], at, fetchedAt);
    setSeen({ executionId, at, kept });
  }
  return kept.filter(({ goneAt }) => fetchedAt < goneAt).map(({ block }) => block);
}

function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isTicking) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

/**
 * Follows the events of a run while it is running, and calls `onChange` at most every 700 ms. Reconnects after an
 * interruption, but not after a refusal.
 */
function useRunEvents(path: RunPath, isRunning: boolean, onChange: () => void): void {
  const onChangeRef = useRef(onChange);
  onChangeRef.current = onChange;
  const { org, project, flow, executionId } = path;
  useEffect(() => {
    if (!isRunning) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    function changed() {
      if (stop.signal.aborted) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        onChangeRef.current();
      }, CHANGE_INTERVAL_MS);
    }
    const url = runUrl({ org, project, flow, executionId }, '/events');
    const onInterrupted = async () => {
      changed();
      return false;
    };
    followStream(url, {}, { isLast: () => false, onEvent: changed, onInterrupted, signal: stop.signal })
      // The page also polls the run, and shows its errors.
      .catch(changed);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [isRunning, org, project, flow, executionId]);
}

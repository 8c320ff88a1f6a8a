import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { type RunFilter, runQuery } from '../search.ts';
import { fetchRuns } from './fetch-runs.ts';
import { insertRuns, mergeRuns, type RunPage } from './merge-runs.ts';

const PAGE = 200;
const POLL_MS = 3_000;

type Head = { page: RunPage; etag: string | undefined };
type Pages = { pages: RunPage[]; pageParams: unknown[] };

/** When the filter of a history entry was set; its range counts from then. */
const setAt = new Map<string, number>();

/** Queries the runs that match a filter, and keeps them up to date while the window is visible. */
export function useRuns(place: { organizationId: string; projectId: string }, filter: RunFilter) {
  const client = useQueryClient();
  const router = useRouter();
  const text = JSON.stringify(filter);
  const [restarts, setRestarts] = useState(0);
  const entry = () => router.state.location.state.__TSR_key ?? '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: a range is counted from when the filter was set
  const query = useMemo(() => {
    const now = setAt.get(entry()) ?? Date.now();
    // After Back, the list and its scroll position are the same.
    setAt.set(entry(), now);
    return runQuery(filter, now);
  }, [text, restarts]);
  const key = ['runs', place.projectId, filter.scope, query];

  const list = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => (await fetchPage(pageParam, undefined, signal)).page,
    getNextPageParam: (page) => (page.hasMore ? (page.nextCursor ?? undefined) : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    // After Back, as many pages are fetched again as there were.
    refetchOnMount: 'always',
    placeholderData: keepPreviousData,
  });
  const headKey = [...key, 'head'];
  const head = useQuery({
    queryKey: headKey,
    queryFn: async ({ signal }) => {
      const known = client.getQueryData<Head>(headKey);
      return await fetchPage(undefined, known, signal);
    },
    enabled: list.isSuccess && !list.isPlaceholderData,
    refetchInterval: POLL_MS,
    staleTime: 0,
    gcTime: 0,
  });

  async function fetchPage(
    cursor: string | undefined,
    known: Head | undefined,
    signal: AbortSignal,
  ): Promise<Head> {
    const { data, response } = await fetchRuns(place, filter.scope, {
      query: { ...query, limit: PAGE, ...(cursor !== undefined && { cursor }) },
      ...(known?.etag !== undefined && { header: { 'If-None-Match': known.etag } }),
      signal,
    });
    if (response.status === 304 && known) return known;
    return { page: data as RunPage, etag: response.headers.get('etag') ?? undefined };
  }

  const pages = list.data?.pages;
  const merged = useMemo(() => mergeRuns(pages ?? [], head.data?.page), [pages, head.data]);
  async function showFresh() {
    if (merged.hasGap) await client.resetQueries({ queryKey: [...key, 'pages'] });
    else
      client.setQueryData<Pages>(
        [...key, 'pages'],
        (data) => data && { ...data, pages: insertRuns(data.pages, merged.fresh) },
      );
  }
  // An empty list has no rows being read that could move.
  const isFirst = merged.rows.length === 0 && merged.fresh.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: done once for the first runs
  useEffect(() => {
    if (isFirst) void showFresh();
  }, [isFirst]);
  return {
    ...merged,
    list,
    /** The filter with its range replaced by a fixed start. */
    fixedFilter: { ...filter, range: undefined, since: query.since } as RunFilter,
    /** The error of the last update: the rows may be out of date. */
    staleBecause: head.error,
    showFresh,
    rangeFrom: filter.range && query.since,
    restartRange() {
      setAt.delete(entry());
      setRestarts(restarts + 1);
    },
  };
}

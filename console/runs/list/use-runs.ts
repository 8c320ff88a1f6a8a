import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { insertRuns, mergeRuns, type RunPage } from './merge-runs.ts';
import { type RunFilter, runQuery } from './run-filter.ts';

const PAGE = 200;
const POLL_MS = 3_000;

type Head = { page: RunPage; etag: string | undefined };
type Pages = { pages: RunPage[]; pageParams: unknown[] };

/** When the filter of an entry of the browser's history was set, from which its range is counted. */
const setAt = new Map<string, number>();

/** The runs that a filter finds, kept up to date while the window is visible; further pages by `fetchMore`. */
export function useRuns(place: { organizationId: string; projectId: string }, filter: RunFilter) {
  const client = useQueryClient();
  const router = useRouter();
  const text = JSON.stringify(filter);
  const [countings, setCountings] = useState(0);
  const entry = () => router.state.location.state.__TSR_key ?? '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: a range is counted from when the filter was set
  const query = useMemo(() => {
    const now = setAt.get(entry()) ?? Date.now();
    // Whoever comes back finds the same list, and their place in it.
    setAt.set(entry(), now);
    return runQuery(filter, now);
  }, [text, countings]);
  const key = ['runs', place.projectId, filter.scope, query];

  const list = useInfiniteQuery({
    queryKey: [...key, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => (await fetchPage(pageParam, undefined, signal)).page,
    getNextPageParam: (page) => (page.hasMore ? (page.nextCursor ?? undefined) : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    // Whoever comes back finds as many pages as before, read again.
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
    const params = {
      query: { ...query, limit: PAGE, ...(cursor !== undefined && { cursor }) },
      ...(known?.etag !== undefined && { header: { 'If-None-Match': known.etag } }),
    };
    const { data, response } = filter.scope
      ? await api.GET('/api/v1/organizations/{org_id}/runs', {
          params: { ...params, path: { org_id: place.organizationId } },
          signal,
        })
      : await api.GET('/api/v1/projects/{project_id}/runs', {
          params: { ...params, path: { project_id: place.projectId } },
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
  // Nothing is being read in an empty list.
  const isFirst = merged.rows.length === 0 && merged.fresh.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: done once for the first runs
  useEffect(() => {
    if (isFirst) void showFresh();
  }, [isFirst]);
  return {
    ...merged,
    list,
    /** The filter with a range as the fixed time from which the list counts it. */
    fixedFilter: { ...filter, range: undefined, since: query.since } as RunFilter,
    /** The last look at the newest runs failed: what is shown may be old. */
    staleBecause: head.error,
    showFresh,
    /** The time from which the list counts the range of the filter. */
    rangeFrom: filter.range && query.since,
    /** Counts the range of the filter from now. */
    countAnew() {
      setAt.delete(entry());
      setCountings(countings + 1);
    },
  };
}

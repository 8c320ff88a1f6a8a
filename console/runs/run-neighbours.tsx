import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useMemo } from 'react';
import { IconButton } from '../ui/button.tsx';
import { fetchRuns } from './list/fetch-runs.ts';
import type { ListedRun } from './list/merge-runs.ts';
import { type RunFilter, type RunView, runQuery } from './search.ts';

type Props = {
  place: { organizationId: string; projectId: string };
  path: { org: string; flow: string; executionId: string };
  view: RunView;
  /** Whether the run has been loaded: the list is not asked about a run that does not exist. */
  isKnown: boolean;
};

type Order = 'newest' | 'oldest';

/** Buttons to the runs beside this one: in the list that the reader came from, otherwise of the same flow. */
export function RunNeighbours({ place, path, view, isKnown }: Props) {
  const navigate = useNavigate();
  const filter: RunFilter = view.list === 'all' ? {} : (view.list ?? { flow: path.flow });
  const older = useNeighbour(place, filter, path.executionId, 'newest', isKnown);
  const newer = useNeighbour(place, filter, path.executionId, 'oldest', isKnown);
  function open(run: ListedRun) {
    const { organization: org, project, flow, executionId } = run;
    void navigate({
      to: '/orgs/$org/projects/$project/flows/$flow/runs/$executionId',
      params: { org, project, flow, executionId },
      search: { ...(view.list && { list: view.list }), ...(view.view && { view: view.view }) },
    });
  }
  const where = view.list ? 'in the list' : 'of the flow';
  return (
    <>
      <IconButton
        label={`Newer run ${where}`}
        variant="secondary"
        isDisabled={!newer}
        onPress={() => newer && open(newer)}
      >
        <ChevronUp size={16} aria-hidden />
      </IconButton>
      <IconButton
        label={`Older run ${where}`}
        variant="secondary"
        isDisabled={!older}
        onPress={() => older && open(older)}
      >
        <ChevronDown size={16} aria-hidden />
      </IconButton>
    </>
  );
}

/** Queries the first run after this one in an order; null when there is none, undefined while it is loading. */
function useNeighbour(
  place: Props['place'],
  filter: RunFilter,
  executionId: string,
  order: Order,
  isKnown: boolean,
) {
  const text = JSON.stringify(filter);
  // A range counts back from when the run was opened.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text stands for the filter
  const query = useMemo(() => runQuery(filter, Date.now()), [text, executionId]);
  const { data } = useQuery({
    queryKey: ['run-neighbour', place.projectId, filter.scope, query, executionId, order],
    async queryFn({ signal }) {
      let cursor: string | null = executionId;
      // A page of a filter by cost may be empty, and not the last.
      while (cursor !== null) {
        const { data } = await fetchRuns(place, filter.scope, {
          query: { ...query, order, limit: 1, cursor },
          signal,
        });
        if (data?.runs[0]) return data.runs[0];
        cursor = data?.nextCursor ?? null;
      }
      return null;
    },
    enabled: isKnown,
    retry: false,
  });
  return data;
}

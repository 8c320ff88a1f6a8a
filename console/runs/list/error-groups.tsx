import { keepPreviousData } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { $api, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { Panel, Table } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { useNarrow } from '../../ui/use-narrow.ts';
import { countedQuery, type RunFilter } from '../search.ts';
import { BulkAction } from './bulk-actions.tsx';
import style from './error-groups.module.css';

const POLL_MS = 60_000;
const GROUPS_MAX = 50;

type Group = Schemas['RunErrorGroup'];
type Props = {
  projectId: string;
  /** The filter of the list, with fixed times. */
  filter: RunFilter;
  flows: { slug: string; productionVersion: number | null }[];
  /** Shows the runs of a group; undefined: of all. */
  onShow: (errorGroup: string | undefined) => void;
  onDone: () => void;
};

/** The failed runs that match the filter, grouped by what went wrong. Nothing while there are none. */
export function ErrorGroups({ projectId, filter, flows, onShow, onDone }: Props) {
  const [isOpen, setOpen] = useState(false);
  const isNarrow = useNarrow(640);
  const { error_group: chosen, ...all } = filter;
  const { data, error, refetch } = $api.useQuery(
    'get',
    '/api/v1/projects/{project_id}/runs/errors',
    {
      params: {
        path: { project_id: projectId },
        query: { ...countedQuery(all), since: filter.since, until: filter.until, limit: GROUPS_MAX },
      },
    },
    { refetchInterval: POLL_MS, placeholderData: keepPreviousData },
  );
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const groups = data?.errors ?? [];
  if (groups.length === 0) return null;
  const failed = groups.reduce((sum, { count }) => sum + count, 0);
  const more = data?.hasMore ? '+' : '';
  return (
    <div className={style.errors}>
      <Button variant="quiet" aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        {isOpen ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />}
        Errors: {formatCount(groups.length)}
        {more} {groups.length === 1 ? 'kind' : 'kinds'} in {formatCount(failed)}
        {more} {failed === 1 ? 'run' : 'runs'}
      </Button>
      {isOpen && (
        <div className={style.panel}>
          <Panel isFlush>
            <Table
              label="Errors"
              head={isNarrow ? ['Error', 'Runs'] : ['Error', 'Runs', 'First seen', 'Last seen', '']}
            >
              {groups.map((group) => {
                const actions = (
                  <div className={style.actions}>
                    <Button
                      size="small"
                      aria-label={`${group.error_group === chosen ? 'Show all runs, not only' : 'Show runs'}: ${group.errorMessage}`}
                      onPress={() => onShow(group.error_group === chosen ? undefined : group.error_group)}
                    >
                      {group.error_group === chosen ? 'Show all' : 'Show runs'}
                    </Button>
                    <BulkAction
                      how="retry"
                      of={group.errorMessage}
                      projectId={projectId}
                      filter={{ ...all, flow: group.flow, error_group: group.error_group }}
                      production={flows.find(({ slug }) => slug === group.flow)?.productionVersion}
                      onDone={onDone}
                    />
                  </div>
                );
                return (
                  <tr key={group.error_group} aria-current={group.error_group === chosen || undefined}>
                    <td>
                      <Message group={group} />
                      {isNarrow && (
                        <>
                          <p className={style.where}>
                            From <Time at={group.firstSeen} /> to <Time at={group.lastSeen} />
                          </p>
                          {actions}
                        </>
                      )}
                    </td>
                    <td>{formatCount(group.count)}</td>
                    {!isNarrow && (
                      <>
                        <td>
                          <Time at={group.firstSeen} />
                        </td>
                        <td>
                          <Time at={group.lastSeen} />
                        </td>
                        <td>{actions}</td>
                      </>
                    )}
                  </tr>
                );
              })}
            </Table>
          </Panel>
        </div>
      )}
    </div>
  );
}

function Message({ group: { flow, step_id, block, code, errorMessage } }: { group: Group }) {
  return (
    <div className={style.message}>
      <span title={errorMessage}>{errorMessage}</span>
      <span className={style.where}>
        {[flow, block ?? step_id, code].filter((part) => part !== undefined).join(' · ')}
      </span>
    </div>
  );
}

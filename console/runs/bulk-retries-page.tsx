import { getRouteApi, Link } from '@tanstack/react-router';
import { $api } from '../api/client.ts';
import { PAGES, refreshPages } from '../api/query-options.ts';
import { useProject } from '../shell/me.ts';
import { useActorName } from '../shell/use-actor-name.ts';
import { LinkButton } from '../ui/button.tsx';
import { EmptyState, MoreButton, QueryView } from '../ui/feedback.tsx';
import { formatCount, shortId } from '../ui/format.ts';
import { Clipped, Page, Panel, Table } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { BulkBadge, BulkCounts } from './bulk/bulk-progress.tsx';
import { BULK_RETRIES, describeFilter } from './bulk/bulk-retry.ts';

const route = getRouteApi('/orgs/$org/projects/$project/bulk-retries');

/** The bulk retries of a project, newest first. */
export function BulkRetriesPage() {
  const { org, project: slug } = route.useParams();
  const found = useProject({ org, project: slug });
  const nameOfActor = useActorName(found);
  const query = $api.useInfiniteQuery(
    'get',
    BULK_RETRIES,
    { params: { path: { project_id: found.project.id }, query: { limit: 50 } } },
    { ...PAGES, refetchInterval: refreshPages },
  );
  return (
    <Page
      title="Bulk retries"
      text="Each retried many failed runs at once."
      actions={
        <LinkButton to="/orgs/$org/projects/$project/runs" params={{ org, project: slug }}>
          All runs
        </LinkButton>
      }
    >
      <Panel isFlush>
        <QueryView query={query}>
          {({ pages }) => {
            const bulks = pages.flatMap((page) => page.bulkRetries);
            if (bulks.length === 0)
              return (
                <EmptyState
                  title="No bulk retry yet"
                  text="Filter the list of runs, then choose “Retry failed …”."
                />
              );
            return (
              <Table
                label="Bulk retries"
                head={['Bulk retry', 'State', 'Runs', 'Ends', 'Filter', 'Started by', 'Started']}
              >
                {bulks.map((bulk) => (
                  <tr key={bulk.bulk_id}>
                    <td>
                      <Link
                        to="/orgs/$org/projects/$project/bulk-retries/$bulkId"
                        params={{ org, project: slug, bulkId: bulk.bulk_id }}
                      >
                        {shortId(bulk.bulk_id)}
                      </Link>
                    </td>
                    <td>
                      <BulkBadge bulk={bulk} />
                    </td>
                    <td>{formatCount(bulk.planned)}</td>
                    <td>
                      <BulkCounts bulk={bulk} />
                    </td>
                    <td>
                      <Clipped text={describeFilter(bulk)} />
                    </td>
                    <td>
                      <Clipped text={nameOfActor(bulk.startedBy)} />
                    </td>
                    <td>
                      <Time at={bulk.startedAt} />
                    </td>
                  </tr>
                ))}
              </Table>
            );
          }}
        </QueryView>
        <MoreButton query={query} />
      </Panel>
    </Page>
  );
}
